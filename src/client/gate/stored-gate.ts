import { newBucket } from './bucket.ts'
import { type GateLimits, TUNING } from './gate-limits.ts'
import { alive, type GateState, NO_WINDOW, settled } from './gate-state.ts'

const NUMBERS = [
  'tokens',
  'at',
  'credit',
  'failures',
  'succeededAt',
  'share',
  'pauseMs',
  'probeAt',
  'nextAt',
  'gapMs',
  'keptAt',
  'usualMs',
  'answers',
] as const

/** As the journal has it: an onlooker needs the limits of the client that wrote it. */
export interface StoredGate extends GateState {
  readonly limits?: GateLimits | undefined
}

/** What a journal or another tab had of the state; undefined if it is no such state. Requests in flight are its own. */
export function restoreGate(stored: unknown, { budget, breaker }: GateLimits, now: number): GateState | undefined {
  if (!isStoredGate(stored)) return undefined
  const { limits: _, ...state } = stored
  const isFailing = stored.failedAt !== undefined && breaker !== false
  return {
    ...state,
    tokens: Math.min(stored.tokens, newBucket(budget).tokens),
    credit: 0,
    failures: isFailing ? stored.failures : 0,
    failedAt: isFailing ? stored.failedAt : undefined,
    triedAt: isFailing ? stored.triedAt : undefined,
    hangsSince: undefined,
    ...NO_WINDOW,
    probe: undefined,
    refused: 0,
    backAt: undefined,
    nextAt: Math.min(stored.nextAt, now + TUNING.longestHoldMs),
    spaceMs: 0,
    spacedUntil: now,
  }
}

export function isStoredGate(value: unknown): value is StoredGate {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  if (!NUMBERS.every((name) => Number.isFinite(given[name]))) return false
  return [given.failedAt, given.triedAt].every((time) => time === undefined || Number.isFinite(time))
}

/**
 * What this client makes of the restored state of another one. Bad news travels, tokens don't: no client may spend what
 * another has earned. A success of either ends the failures before it, and a probe stays with its sender.
 */
export function mergeGates(mine: GateState, theirs: GateState, { limits, now }: Merging): GateState {
  // Both as they are now: the time since the older one brings no token to the newer one.
  const [own, other] = [settled(mine, limits, now), settled(theirs, limits, now)]
  const succeededAt = Math.max(own.succeededAt, other.succeededAt)
  return {
    ...mergeFailures(own, other, succeededAt),
    tokens: Math.min(own.tokens, other.tokens),
    credit: Math.min(own.credit, other.credit),
    gapMs: theirs.at > mine.at ? other.gapMs : own.gapMs,
    keptAt: Math.max(own.keptAt, other.keptAt),
    nextAt: Math.max(own.nextAt, other.nextAt),
    succeededAt,
  }
}

interface Merging {
  readonly limits: GateLimits
  readonly now: number
}

/** The failures that each has seen are the same trouble. */
function mergeFailures(mine: GateState, theirs: GateState, succeededAt: number): GateState {
  const isFailing = ({ failedAt = 0 }: GateState): boolean => failedAt > succeededAt
  if (!isFailing(theirs)) return theirs.succeededAt > (mine.failedAt ?? 0) ? alive(mine) : mine
  const { failures, failedAt, triedAt, share, pauseMs, probeAt } = theirs
  if (!isFailing(mine)) return { ...mine, failures, failedAt, triedAt, share, pauseMs, probeAt }
  return {
    ...mine,
    failures: Math.max(mine.failures, failures),
    failedAt: Math.min(mine.failedAt ?? 0, failedAt ?? 0),
    triedAt: Math.max(mine.triedAt ?? 0, triedAt ?? 0),
    pauseMs: Math.max(mine.pauseMs, pauseMs),
    probeAt: Math.max(mine.probeAt, probeAt),
  }
}
