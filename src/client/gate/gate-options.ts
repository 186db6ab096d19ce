import type { Duration } from '../../foundation/duration.ts'

export interface BreakerOptions {
  /** Opens when a request fails that was sent so long after the first of several failures in a row, or later. Default '5s'. */
  readonly openAfter?: Duration | undefined
  /** How long it stays open before it lets a probe through, give or take a quarter. Default '2s'. */
  readonly openFor?: Duration | undefined
}

/** A caller's own ceilings, for each origin. */
export interface LimitOptions {
  /** How many requests are in flight at once. */
  readonly concurrency?: number | undefined
  /** How many requests leave in a second, evenly spread. */
  readonly perSecond?: number | undefined
}
