import { type BudgetLimits, type GateLimits, TUNING } from './gate-limits.ts'
import { forgetGap, type Pace, standStill, unpaced } from './pace.ts'

/** The first attempt of a call, a retry, or the first attempt of an operation that a resume goes on with. */
export type RequestKind = 'call' | 'retry' | 'kept'

export type GatePhase = 'healthy' | 'failing' | 'open'

/**
 * What a client knows of one origin:
 *
 *               a streak of failures                       no success for `openAfter`
 *               that is no chance                          since the first failure
 *     healthy ─────────────────────────▶ failing ───────────────────────────▶ open
 *        ▲    all is sent; after a       one probe at a time, with a          calls end;
 *        │    failure, a window          growing pause; calls wait            a probe each `openFor`
 *        └───────────────────────────────── success ───────────────────────────┘
 *
 * In every phase a retry costs a token. Every field is a number or absent, so that the state can be put into a journal or
 * a message as it is.
 */
export interface GateState extends Pace {
  /** A retry costs one, a success adds `ratio`, and time leads back to `rest`. */
  readonly tokens: number
  /** Up to when the way back to rest is counted. */
  readonly at: number
  /** How many more kept operations may be in flight. One that succeeds gives its own back and adds `ratio`. */
  readonly credit: number
  /** Since the last success; and when the first of them came. */
  readonly failures: number
  readonly failedAt?: number | undefined
  /** The last success; 0 before the first one. */
  readonly succeededAt: number
  /** The share of successes among the answers, until the last success. */
  readonly share: number
  /** How many requests may be in flight. Absent: any number. */
  readonly window?: number | undefined
  /** Answers since the last failure while there is a window. */
  readonly calm: number
  /** The last pause between two probes, and when the next probe may go. */
  readonly pauseMs: number
  readonly probeAt: number
  /** When the probe that is in flight was sent; it also names the probe. */
  readonly probe?: number | undefined
  /** Calls that the open breaker has refused since the last probe. */
  readonly refused: number
  /** Nothing is sent before this time: the server asked for it, or the last request was a moment ago. */
  readonly nextAt: number
  /** The server's quota is nearly used up: a gap between two requests, until it begins anew. */
  readonly spaceMs: number
  readonly spacedUntil: number
}

/** Ten times a tenth is a token, whatever floating point makes of it. */
export const A_TOKEN = 1 - 1e-9

export function newGateState({ budget }: GateLimits, now: number): GateState {
  const rest = budget ? budget.rest : 1
  const unbroken = { failures: 0, failedAt: undefined, succeededAt: 0, share: 1, window: undefined, calm: 0 }
  const unprobed = { pauseMs: 0, probeAt: now, probe: undefined, refused: 0 }
  const unspaced = { nextAt: now, spaceMs: 0, spacedUntil: now }
  return { tokens: rest, at: now, credit: rest, ...unbroken, ...unprobed, ...unspaced, ...unpaced(now) }
}

export function phaseOf({ failures, failedAt, share }: GateState, { breaker }: GateLimits, now: number): GatePhase {
  if (failures === 0) return 'healthy'
  if (now >= opensAt({ failures, failedAt }, breaker)) return 'open'
  return failures >= failingStreak(share) ? 'failing' : 'healthy'
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

/** What is on its way. */
export interface Traffic {
  readonly now: number
  readonly inFlight: number
  /** Requests that were sent since the last answer, and when the first of them was. */
  readonly unanswered: { readonly count: number; readonly since: number }
}

export interface Question extends Traffic {
  readonly kind: RequestKind
  readonly random: () => number
  /** Requests in flight that were sent in this phase. */
  readonly inPhase: number
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
  /** How long it would wait. */
  readonly leaveAt: number
}

/**
 * `until`: when to ask again if nothing is reported before; `Infinity`: only a report helps. `open`: the circuit breaker is
 * open. `late`: it would have to wait for longer than it wants to.
 */
export type Answer =
  | { readonly is: 'sent'; readonly state: GateState; readonly probe?: number | undefined }
  | { readonly is: 'waits'; readonly state: GateState; readonly until: number }
  | { readonly is: 'open' | 'late'; readonly state: GateState; readonly retryAt: number }

/** May a request of this kind be sent now? The end of one that is sent must be recorded. */
export function ask(before: GateState, limits: GateLimits, question: Question): Answer {
  const { now, kind, leaveAt } = question
  // On the way of every call.
  if (kind === 'call' && isPlain(before, limits, question)) return { is: 'sent', state: before }
  const state = silenced(settled(before, limits, now), question)
  const phase = phaseOf(state, limits, now)
  const probeAt = nextProbeAt(state, limits, now)
  if (phase === 'open' && kind !== 'kept') {
    const mayProbe = kind === 'call' && probeAt <= now && !isFull(state, limits, question)
    if (!mayProbe) return refused(state, kind, Math.max(now, probeAt))
  }
  const keptAt = kind === 'kept' && standStill(state, now) ? state.keptAt : now
  // A probe that is in flight may end the wait at any moment.
  const knownAt = Math.max(state.probe === undefined ? probeAt : now, state.nextAt, keptAt)
  if (knownAt > leaveAt) return { is: 'late', state, retryAt: knownAt }
  const until = isFull(state, limits, question) ? Number.POSITIVE_INFINITY : heldUntil(state, limits, question)
  const waitsUntil = Math.max(knownAt, probeAt, until)
  if (waitsUntil > now) {
    // Calls and retries that wait must hear of it when the breaker opens.
    const opens = kind === 'kept' ? Number.POSITIVE_INFINITY : opensAt(state, limits.breaker)
    return { is: 'waits', state, until: Math.min(waitsUntil, opens) }
  }
  const paid = spaced(pay(state, limits, question), limits, now)
  if (phase === 'healthy') return { is: 'sent', state: paid }
  return { is: 'sent', state: { ...paid, probe: now, probeAt: now, refused: 0 }, probe: now }
}

/** Does nothing hold a call up? */
export function isPlain(state: GateState, limits: GateLimits, traffic: Traffic): boolean {
  const { now, inFlight } = traffic
  if (state.failures > 0 || state.window !== undefined || state.nextAt > now || state.spaceMs > 0) return false
  const { concurrency = Number.POSITIVE_INFINITY, perSecond } = limits
  return inFlight < concurrency && perSecond === undefined && !isSilent(state, traffic)
}

/** A call ends at once while the circuit breaker is open. Undefined: it is not open, or a probe is due. */
export function refuseCall(state: GateState, limits: GateLimits, now: number): (Answer & { is: 'open' }) | undefined {
  if (phaseOf(state, limits, now) !== 'open') return undefined
  const probeAt = nextProbeAt(state, limits, now)
  return probeAt > now ? refused(state, 'call', probeAt) : undefined
}

function refused(state: GateState, kind: RequestKind, retryAt: number): Answer & { is: 'open' } {
  return { is: 'open', state: { ...state, refused: state.refused + (kind === 'call' ? 1 : 0) }, retryAt }
}

/** Probes need no place in the window: it is of the time before. */
function isFull(state: GateState, limits: GateLimits, { now, inFlight, inPhase }: Question): boolean {
  if (limits.concurrency !== undefined && inFlight >= limits.concurrency) return true
  return state.window !== undefined && inPhase >= state.window && phaseOf(state, limits, now) === 'healthy'
}

/** The next request has its distance from this one. */
function spaced(state: GateState, { perSecond }: GateLimits, now: number): GateState {
  const gapMs = Math.max(perSecond === undefined ? 0 : 1000 / perSecond, now < state.spacedUntil ? state.spaceMs : 0)
  return gapMs > 0 ? { ...state, nextAt: now + gapMs } : state
}

/** Until when no kept operation is sent; undefined if one may be, or if only a report can tell. */
export function keptUntil(before: GateState, limits: GateLimits, now: number): number | undefined {
  const state = settled(before, limits, now)
  const until = Math.max(nextProbeAt(state, limits, now), state.nextAt, standStill(state, now) ? state.keptAt : now)
  return until > now ? until : undefined
}

/**
 * A server that hangs is found out by its silence: until the first attempts time out, thousands would follow. Silence alone
 * opens no breaker, since a slow answer may still come.
 */
function silenced(state: GateState, question: Question): GateState {
  if (state.failures > 0 || !isSilent(state, question)) return state
  return { ...state, failures: failingStreak(state.share), probeAt: question.now, window: undefined }
}

function isSilent(state: GateState, { now, unanswered: { count, since } }: Traffic): boolean {
  return count >= TUNING.silentRequests && now - since >= silenceMs(state)
}

function silenceMs({ usualMs, answers }: GateState): number {
  return answers < TUNING.knownAnswers ? TUNING.firstSilenceMs : Math.max(TUNING.silenceMs, 3 * usualMs)
}

function nextProbeAt(state: GateState, limits: GateLimits, now: number): number {
  const phase = phaseOf(state, limits, now)
  if (phase === 'healthy') return now
  if (state.probe !== undefined) return Math.max(state.nextAt, state.probe + TUNING.probePlaceMs)
  const isBusy = phase === 'open' && limits.breaker && state.refused >= TUNING.refusedPerProbe
  const soonerMs = isBusy ? limits.breaker.openForMs * TUNING.sooner : 0
  return Math.max(state.nextAt, state.probeAt - soonerMs)
}

/** Until when a request has to wait for a token or its time, whatever the phase is. */
function heldUntil(state: GateState, { budget }: GateLimits, question: Question): number {
  const { now, kind, spreadUntil = now } = question
  if (kind === 'call') return now
  if (kind === 'kept') {
    return state.credit >= A_TOKEN ? now : now + timeToToken(state.credit, budget)
  }
  const tokenAt = !budget || state.tokens >= A_TOKEN ? now : now + timeToToken(state.tokens, budget)
  return state.failures > 0 ? Math.max(tokenAt, spreadUntil) : tokenAt
}

function timeToToken(tokens: number, budget: BudgetLimits | false): number {
  if (!budget || budget.rest < 1) return Number.POSITIVE_INFINITY
  return Math.ceil(((1 - tokens) / budget.reservePerSecond) * 1000)
}

/** When the breaker opens if nothing succeeds. A probe finds a server that was away for just so long. */
function opensAt(
  { failedAt, failures }: Pick<GateState, 'failedAt' | 'failures'>,
  breaker: GateLimits['breaker'],
): number {
  const isCounting = breaker && failedAt !== undefined && failures >= TUNING.leastStreak
  return isCounting ? failedAt + breaker.openAfterMs * TUNING.openLate : Number.POSITIVE_INFINITY
}

function pay(state: GateState, { budget }: GateLimits, { kind, now, random }: Question): GateState {
  if (kind === 'call') return state
  if (kind === 'kept') return { ...state, credit: state.credit - 1, keptAt: now + state.gapMs * 2 * random() }
  return budget ? { ...state, tokens: state.tokens - 1 } : state
}

/** The tokens as an onlooker reads them. */
export function tokensAt(state: GateState, limits: GateLimits, now: number): number {
  return limits.budget ? settled(state, limits, now).tokens : Number.POSITIVE_INFINITY
}

/** An answer of any kind shows that there is a server. */
export function alive(state: GateState): GateState {
  return { ...state, failures: 0, failedAt: undefined, pauseMs: 0, probe: undefined, refused: 0 }
}

/** After the time since the last look: the reserve leads back to rest, and old failures are forgotten. */
export function settled(before: GateState, { budget }: GateLimits, now: number): GateState {
  if (now === before.at) return before
  const state = forgetFailures(forgetGap(before, now), now)
  // A clock that was set back brings nothing and takes nothing; counting goes on from there.
  if (now < state.at) return setBack(state, now)
  if (!budget) return { ...state, at: now }
  const step = ((now - state.at) / 1000) * budget.reservePerSecond
  const back = (from: number): number => from + Math.max(-step, Math.min(step, budget.rest - from))
  return { ...state, at: now, tokens: back(state.tokens), credit: back(state.credit) }
}

function setBack(state: GateState, now: number): GateState {
  const left = (until: number): number => now + Math.max(0, until - state.at)
  const held = { nextAt: left(state.nextAt), spacedUntil: left(state.spacedUntil) }
  return { ...alive(state), at: now, succeededAt: Math.min(now, state.succeededAt), probeAt: now, ...held }
}

function forgetFailures(state: GateState, now: number): GateState {
  return state.failures > 0 && now - state.probeAt > TUNING.forgetMs ? alive(state) : state
}
