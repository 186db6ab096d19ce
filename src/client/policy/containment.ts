/** The first attempt of a call, a retry, or the first attempt of a kept operation on resume. */
export type RequestKind = 'call' | 'retry' | 'kept'

/** `ignored`: aborted, or not sent for a reason of our own; it says nothing about the server. */
export type RequestOutcome = 'success' | 'failure' | 'ignored'

export interface ContainmentLimits {
  /** `false`: neither retries nor kept operations are held back by the level. */
  readonly budget: false | { readonly ratio: number; readonly burst: number }
  /** How long the circuit breaker stays open; `false`: it never opens. */
  readonly openForMs: number | false
}

export const DEFAULT_BUDGET = Object.freeze({ ratio: 1.5, burst: 9 })
export const DEFAULT_CONTAINMENT: ContainmentLimits = Object.freeze({ budget: DEFAULT_BUDGET, openForMs: 2000 })

/**
 * What a client knows of one origin. One number decides: a failure takes 1 from `level`, a success adds `ratio`
 * (a slow one nothing), and time brings it back to 1.
 *
 *    burst ┬  calls, retries and kept operations go
 *        1 ┼  rest: where a new or a quiet client stands; one retry
 *        0 ┼  ───────────────────────────────────────────────────────
 *          │  calls go; no retry, and kept operations wait for about a minute
 *       -5 ┴  no success for 2 s: open ──openFor──▶ one probe ──success──▶ rest
 *                                   ▲                      │
 *                                   └─────── failure ──────┘
 *
 * Kept operations also keep a gap: a slow answer doubles it, each one that is done in time cuts it to a third.
 * Every field is a number or absent, so that the state can be put into a journal or a message as it is.
 */
export interface Containment {
  readonly level: number
  /** Up to when the way back to rest is counted. */
  readonly at: number
  /** The last success; 0 before the first one. */
  readonly succeededAt: number
  /** Absent: the circuit breaker is closed. */
  readonly openUntil?: number | undefined
  /** When the probe that is under way was sent; it also names the probe. */
  readonly probe?: number | undefined
  /** Between two kept operations. 0: as fast as the level allows. */
  readonly gapMs: number
  /** No kept operation goes before this time. */
  readonly keptAt: number
  /** How long answers usually take, and of how many that is the mean (up to 10). */
  readonly usualMs: number
  readonly answers: number
}

const REST = 1
const DEAD = -5
/** A busy client sees many failures within a moment. Dead is a server without any success for this long. */
const SILENT_MS = 2000
/** The time constant of the way back to rest. */
const RELAX_MS = 30_000
const FIRST_GAP_MS = 100
/** Long enough that 100,000 clients with one kept operation each don't come back faster than a server can take. */
const LONGEST_GAP_MS = 60_000
const NO_GAP_BELOW_MS = 10
const QUICKER = 3
const SLOWER = 2
/** An answer is slow when it takes three times as long as usual, and 100 ms. */
const SLOW_TIMES = 3
const SLOW_MS = 100
const MOST_ANSWERS = 10
/** What is usual changes over minutes: an overload of half a minute does not become the norm. */
const USUAL_MS = 300_000

export function newContainment({ budget }: ContainmentLimits, now: number): Containment {
  const level = restOf(budget)
  return { level, at: now, succeededAt: 0, gapMs: 0, keptAt: now, usualMs: 0, answers: 0 }
}

export interface LeaveQuestion {
  readonly now: number
  readonly kind: RequestKind
  readonly random: () => number
}

export interface Leave {
  readonly state: Containment
  readonly given: boolean
  /** Where not given: why, and when it is worth asking again. */
  readonly reason?: 'breaker' | 'budget'
  readonly retryAt?: number
  /** Where it is the probe: what `learnOutcome` knows it by. */
  readonly probe?: number
}

/** Asked right before every request. A request that got leave must be reported to `learnOutcome`. */
export function askLeave(before: Containment, limits: ContainmentLimits, question: LeaveQuestion): Leave {
  const { now, kind, random } = question
  const state = relaxed(before, limits, now)
  if (kind === 'kept' && isHeld(state, now)) return refusal(state, 'budget', state.keptAt)
  const openUntil = limits.openForMs === false ? undefined : closedUntil(state, limits.openForMs, now)
  if (openUntil !== undefined && now < openUntil) return refusal(state, 'breaker', openUntil)
  const isProbe = openUntil !== undefined
  if (!isProbe && kind !== 'call' && limits.budget && state.level < 0) {
    return refusal(state, 'budget', now + timeToZero(state.level, limits))
  }
  const paid = kind === 'kept' ? keptSent(state, now, random) : state
  return isProbe ? { state: { ...paid, probe: now }, given: true, probe: now } : { state: paid, given: true }
}

export interface EndedRequest extends LeaveQuestion {
  readonly outcome: RequestOutcome
  readonly tookMs: number
  /** As its leave had it. */
  readonly probe?: number | undefined
}

/** The state after a request that got leave has ended. */
export function learnOutcome(before: Containment, limits: ContainmentLimits, ended: EndedRequest): Containment {
  const state = relaxed(before, limits, ended.now)
  if (ended.outcome === 'success') return succeeded(state, limits, ended)
  if (ended.outcome === 'failure') return failed(state, limits, ended)
  const level = ended.kind === 'kept' ? state.level + 1 : state.level
  return { ...state, level, probe: isProbe(state, ended) ? undefined : state.probe }
}

/** The level as an onlooker reads it. */
export function levelAt(state: Containment, limits: ContainmentLimits, now: number): number {
  return limits.budget ? relaxed(state, limits, now).level : Number.POSITIVE_INFINITY
}

export function phaseOf(state: Containment, now: number): 'closed' | 'open' | 'half-open' {
  if (state.openUntil === undefined) return 'closed'
  return now < state.openUntil ? 'open' : 'half-open'
}

function succeeded(before: Containment, limits: ContainmentLimits, ended: EndedRequest): Containment {
  const isSlow = before.answers > 0 && ended.tookMs > SLOW_TIMES * before.usualMs + SLOW_MS
  const state = timed(before, ended)
  // An answer that was under way when the breaker opened says how the server was, not how it is.
  if (state.openUntil !== undefined && !isProbe(state, ended)) return state
  const closed = { ...state, succeededAt: ended.now, openUntil: undefined, probe: undefined }
  const next = { ...closed, level: raised(state, limits, { kind: ended.kind, isSlow }) }
  // In an overload everything that is still answered is slow.
  if (isSlow) return slowed(next, ended)
  return ended.kind === 'kept' ? quickened(next, ended.now) : next
}

interface Raise {
  readonly kind: RequestKind
  readonly isSlow: boolean
}

function raised(state: Containment, { budget }: ContainmentLimits, { kind, isSlow }: Raise): number {
  if (state.openUntil !== undefined) return restOf(budget)
  const { ratio, burst } = budget || DEFAULT_BUDGET
  const paid = (isSlow ? 0 : ratio) + (kind === 'kept' ? 1 : 0)
  // Something succeeds, so the server is not dead, however many failures came before.
  return Math.max(state.level, Math.min(burst, Math.max(-1, state.level) + paid))
}

function failed(state: Containment, { openForMs }: ContainmentLimits, ended: EndedRequest): Containment {
  const { now, kind, random } = ended
  const level = Math.max(DEAD, kind === 'kept' ? state.level : state.level - 1)
  const isSilent = now - state.succeededAt >= SILENT_MS
  const moved = { ...state, level }
  const next = level >= 0 ? moved : isSilent ? held(moved, LONGEST_GAP_MS, ended) : slowed(moved, ended)
  const isOpen = state.openUntil !== undefined
  if (openForMs === false || (isOpen && !isProbe(state, ended))) return next
  if (!isOpen && !(isSilent && level <= DEAD)) return next
  // Clients that failed together must not probe together.
  return { ...next, openUntil: now + openForMs * (0.75 + random() / 2), probe: undefined }
}

function isProbe(state: Containment, { probe }: EndedRequest): boolean {
  return probe !== undefined && probe === state.probe
}

/** Until when nothing goes; a time that has passed: a probe may go. Undefined: closed. */
function closedUntil({ openUntil, probe }: Containment, openForMs: number, now: number): number | undefined {
  if (openUntil === undefined) return undefined
  // After the clock was set back the breaker must not stay open for longer than it would have.
  if (openUntil > now + openForMs * 1.25) return now
  const isUnderWay = probe !== undefined && Math.abs(now - probe) < openForMs
  return isUnderWay ? Math.max(openUntil, probe + openForMs) : openUntil
}

function refusal(state: Containment, reason: 'breaker' | 'budget', retryAt: number): Leave {
  return { state, given: false, reason, retryAt }
}

/** Paid in advance, so that no more are under way than the level allows: the slow start of a backlog. */
function keptSent(state: Containment, now: number, random: () => number): Containment {
  return { ...state, level: state.level - 1, keptAt: now + spread(state.gapMs, random) }
}

function isHeld({ keptAt }: Containment, now: number): boolean {
  return now < keptAt && keptAt - now <= 2 * LONGEST_GAP_MS
}

/** Once for all slow answers of one hold. */
function slowed(state: Containment, ended: EndedRequest): Containment {
  return isHeld(state, ended.now) ? state : held(state, Math.max(FIRST_GAP_MS, state.gapMs * SLOWER), ended)
}

/** A hold that lasts still is not begun again, so that clients come back at times spread over the whole gap. */
function held(state: Containment, wantedMs: number, { now, random }: EndedRequest): Containment {
  const gapMs = Math.min(LONGEST_GAP_MS, wantedMs)
  return { ...state, gapMs, keptAt: isHeld(state, now) ? state.keptAt : now + spread(gapMs, random) }
}

/** What is left of the wait shrinks with the gap. */
function quickened(state: Containment, now: number): Containment {
  const gapMs = state.gapMs / QUICKER
  const keptAt = now + Math.max(0, state.keptAt - now) / QUICKER
  return { ...state, gapMs: gapMs < NO_GAP_BELOW_MS ? 0 : gapMs, keptAt }
}

function spread(gapMs: number, random: () => number): number {
  return gapMs * 2 * random()
}

function timed(state: Containment, { now, tookMs }: EndedRequest): Containment {
  const byTime = 1 - Math.exp(-Math.max(0, now - state.succeededAt) / USUAL_MS)
  const weight = state.answers < MOST_ANSWERS ? 1 / (state.answers + 1) : byTime
  const usualMs = state.usualMs + weight * (tookMs - state.usualMs)
  return { ...state, usualMs, answers: Math.min(MOST_ANSWERS, state.answers + 1) }
}

function relaxed(state: Containment, { budget }: ContainmentLimits, now: number): Containment {
  if (now === state.at) return state
  // A clock that was set back brings nothing and takes nothing; counting goes on from there.
  if (now < state.at) return { ...state, at: now, succeededAt: Math.min(now, state.succeededAt) }
  const rest = restOf(budget)
  return { ...state, at: now, level: rest + (state.level - rest) * Math.exp((state.at - now) / RELAX_MS) }
}

function timeToZero(level: number, { budget }: ContainmentLimits): number {
  const rest = restOf(budget)
  return rest > 0 ? Math.ceil(RELAX_MS * Math.log((rest - level) / rest)) : Number.POSITIVE_INFINITY
}

function restOf(budget: ContainmentLimits['budget']): number {
  return Math.min(REST, budget ? budget.burst : REST)
}
