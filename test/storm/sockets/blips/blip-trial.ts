import type { Fault, Start } from '../../experiments/troubles.ts'

/** A server that fails for a moment, and the rate of the calls meanwhile. */
export interface BlipTrial {
  readonly fault: Fault
  readonly lastsMs: number
  /** Of one client. */
  readonly perSecond: number
  readonly start: Start
}

export interface BlipChoice {
  readonly faults: readonly Fault[]
  readonly seconds: readonly number[]
  readonly rates: readonly number[]
  readonly starts: readonly Start[]
  readonly clients: readonly ClientName[]
  /** How many clients run at the same time. */
  readonly atOnce: number
}

export const CLIENT_NAMES = ['Holdfast', 'ky, 4 retries', 'axios-retry, 4 retries', 'got', 'p-retry + fetch'] as const
export type ClientName = (typeof CLIENT_NAMES)[number]

/** Does the first call begin before the blip or in it? */
export const STARTS: readonly Start[] = ['warm', 'started']

/** A client that is warm has made calls for this long when the blip begins. */
const WARM_MS = 1000
/** Calls go on to begin for this long after the blip. */
const AFTER_MS = 2000
/** The longest deadline of a call, and some time for its answer: a call that takes longer counts as failed. */
export const DRAIN_MS = 35_000
/** A few calls say little about a share. A slow client therefore gets company until all make this many per second. */
const ENOUGH_PER_SECOND = 100

/** From the start of the run. */
export function blipBeginsMs({ start }: BlipTrial): number {
  return start === 'warm' ? WARM_MS : 0
}

export function callsEndMs(trial: BlipTrial): number {
  return blipBeginsMs(trial) + trial.lastsMs + AFTER_MS
}

/** How many clients of one kind make calls at the same time, each with a state of its own. */
export function clientsOf({ perSecond }: BlipTrial): number {
  return Math.max(1, Math.round(ENOUGH_PER_SECOND / perSecond))
}

export function blipTrials({ faults, seconds, rates, starts }: Omit<BlipChoice, 'atOnce'>): BlipTrial[] {
  return faults.flatMap((fault) =>
    seconds.flatMap((lasts) =>
      rates.flatMap((perSecond) => starts.map((start) => ({ fault, lastsMs: 1000 * lasts, perSecond, start }))),
    ),
  )
}

export function blipName({ lastsMs, perSecond, start }: BlipTrial): string {
  return `${lastsMs / 1000} s, ${perSecond}/s${start === 'warm' ? '' : ', just started'}`
}
