import { type Bucket, newBucket, settledBucket } from './bucket.ts'
import { type BudgetLimits, type GateLimits, TUNING } from './gate-limits.ts'
import { forgetGap, type Pace, unpaced } from './pace.ts'

export type { RequestKind } from './bucket.ts'

export type GatePhase = 'healthy' | 'failing' | 'open'

/**
 * What a client knows of one origin:
 *
 *               a streak of failures                       one more, `openAfter` after
 *               that is no chance                          the first of them
 *     healthy ─────────────────────────▶ failing ───────────────────────────▶ open
 *        ▲    all is sent; after a       one probe at a time, with a          calls end;
 *        │    failure, a window          growing pause; calls wait            a probe each `openFor`
 *        └───────────────────────────────── success ───────────────────────────┘
 *
 * In every phase a retry costs a token. Every field is a number or absent, so that the state can be put into a journal or
 * a message as it is.
 */
export interface GateState extends Bucket, Pace {
  /** Up to when the way back to rest is counted. */
  readonly at: number
  /** Since the last success; and when the first of them came. */
  readonly failures: number
  readonly failedAt?: number | undefined
  /** When the last request was sent that failed: time without requests is no time without success. */
  readonly triedAt?: number | undefined
  /** The last success; 0 before the first one. */
  readonly succeededAt: number
  /** The share of successes among the answers, until the last success. */
  readonly share: number
  /** How many requests may be in flight. Absent: any number. */
  readonly window?: number | undefined
  /** Answers since the last failure while there is a window. */
  readonly calm: number
  /** How long an answer took, while there is a window, to a request that was alone: no other one made it slow. */
  readonly aloneMs?: number | undefined
  /** The last pause between two probes, and when the next probe may go. */
  readonly pauseMs: number
  readonly probeAt: number
  /** When the probe that is in flight was sent; it also names the probe. */
  readonly probe?: number | undefined
  /** Since when probes are sent of which none has ended. */
  readonly hangsSince?: number | undefined
  /** Calls that the open breaker has refused since the last probe. */
  readonly refused: number
  /** Nothing is sent before this time: the server asked for it, or the last request was a moment ago. */
  readonly nextAt: number
  /** When the server will be back, if its last failure said so (`Retry-After`). */
  readonly backAt?: number | undefined
  /** The server's quota is nearly used up: a gap between two requests, until it begins anew. */
  readonly spaceMs: number
  readonly spacedUntil: number
}

/** What is known of the failures of an origin that answers. */
const NO_FAILURES = {
  failures: 0,
  failedAt: undefined,
  triedAt: undefined,
  pauseMs: 0,
  probe: undefined,
  hangsSince: undefined,
  refused: 0,
  backAt: undefined,
}

export const NO_WINDOW = { window: undefined, calm: 0, aloneMs: undefined }

/** Where the state lives. Clients that share a budget share it; each has a queue of its own. */
export interface GateStore {
  state: GateState | undefined
}

export function newGateState({ budget }: GateLimits, now: number): GateState {
  const untried = { ...NO_FAILURES, ...NO_WINDOW, probeAt: now, succeededAt: 0, share: 1 }
  return { ...newBucket(budget), at: now, ...untried, nextAt: now, spaceMs: 0, spacedUntil: now, ...unpaced(now) }
}

export function phaseOf(state: GateState, { breaker }: GateLimits, now: number): GatePhase {
  const { failures, share } = state
  // On the way of every answer: a streak is a logarithm.
  if (failures === 0 || !breaker) return 'healthy'
  if (now >= opensAt(state, breaker)) return 'open'
  return failures >= failingStreak(share) ? 'failing' : 'healthy'
}

/**
 * When the breaker opens if nothing is reported: a request has failed that was sent after `openAfter`, or those that are sent
 * have had no answer for a while. A server that was away for just so long is found by the one that decides.
 */
export function opensAt(
  { failedAt, triedAt = 0, hangsSince, failures }: GateState,
  breaker: GateLimits['breaker'],
): number {
  if (!breaker || failedAt === undefined || failures < TUNING.leastStreak) return Number.POSITIVE_INFINITY
  const endsAt = failedAt + breaker.openAfterMs
  if (triedAt >= endsAt) return endsAt
  if (hangsSince === undefined) return Number.POSITIVE_INFINITY
  return Math.max(endsAt, hangsSince + breaker.openAfterMs * TUNING.hangs)
}

export type BreakerPhase = 'closed' | 'open' | 'half-open'

/** `half-open`: a probe is on its way. */
export function breakerPhaseOf(state: GateState, limits: GateLimits, now: number): BreakerPhase {
  if (phaseOf(state, limits, now) !== 'open') return 'closed'
  return state.probe === undefined ? 'open' : 'half-open'
}

/** How many failures in a row are no chance: three at a server that was well, more at one that is flaky. */
export function failingStreak(share: number): number {
  const failing = 1 - Math.min(0.999, Math.max(0.001, share))
  const unlikely = Math.ceil(Math.log(TUNING.chance) / Math.log(failing))
  return Math.min(TUNING.longestStreak, Math.max(TUNING.leastStreak, unlikely))
}

/** Does it fail now and then? Then a streak may be chance, and is no blip. */
export function isFlaky({ share }: Pick<GateState, 'share'>): boolean {
  return failingStreak(share) > TUNING.leastStreak
}

/** What other clients must know of an origin: without it each would spend its own burst. */
export function isUnwell({ tokens, failures, gapMs }: GateState, budget: BudgetLimits | false): boolean {
  return failures >= TUNING.leastStreak || gapMs > 0 || (budget && tokens < budget.rest)
}

/** An answer of any kind shows that there is a server. */
export function alive(state: GateState): GateState {
  return { ...state, ...NO_FAILURES }
}

/** After the time since the last look: the reserve leads back to rest, and old failures are forgotten. */
export function settled(before: GateState, { budget }: Pick<GateLimits, 'budget'>, now: number): GateState {
  // A clock that was set back brings nothing and takes nothing; counting goes on from there.
  if (now <= before.at) return now < before.at ? setBack(before, now) : before
  const state = forgetGap(before, now)
  const forgotten = now - state.probeAt > TUNING.forgetMs ? NO_FAILURES : undefined
  return { ...state, ...forgotten, ...settledBucket(state, budget, now - state.at), at: now }
}

function setBack(state: GateState, now: number): GateState {
  const left = (until: number): number => now + Math.max(0, until - state.at)
  const held = { nextAt: left(state.nextAt), spacedUntil: left(state.spacedUntil) }
  return { ...alive(state), at: now, succeededAt: Math.min(now, state.succeededAt), probeAt: now, ...held }
}
