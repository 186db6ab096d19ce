import { forgetGap, type Pace, standStill, unpaced } from '../policy/pace.ts'
import { type BudgetLimits, type GateLimits, TUNING } from './gate-limits.ts'

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
}

/** Ten times a tenth is a token, whatever floating point makes of it. */
export const A_TOKEN = 1 - 1e-9

export function newGateState({ budget }: GateLimits, now: number): GateState {
  const rest = budget ? budget.rest : 1
  const unbroken = { failures: 0, failedAt: undefined, succeededAt: 0, share: 1, window: undefined, calm: 0 }
  const unprobed = { pauseMs: 0, probeAt: now, probe: undefined, refused: 0 }
  return { tokens: rest, at: now, credit: rest, ...unbroken, ...unprobed, ...unpaced(now) }
}

export function phaseOf({ failures, failedAt, share }: GateState, { breaker }: GateLimits, now: number): GatePhase {
  if (failures === 0) return 'healthy'
  const isCounting = breaker && failedAt !== undefined && failures >= TUNING.leastStreak
  if (isCounting && now >= failedAt + breaker.openAfterMs) return 'open'
  return failures >= failingStreak(share) ? 'failing' : 'healthy'
}

/** How many failures in a row are no chance: three at a server that was well, more at one that is flaky. */
export function failingStreak(share: number): number {
  const failing = 1 - Math.min(0.999, Math.max(0.001, share))
  const unlikely = Math.ceil(Math.log(TUNING.chance) / Math.log(failing))
  return Math.min(TUNING.longestStreak, Math.max(TUNING.leastStreak, unlikely))
}

export interface Question {
  readonly now: number
  readonly kind: RequestKind
  readonly random: () => number
  /** Requests that were sent in this phase and have not ended. */
  readonly inFlight: number
  /** Requests that were sent since the last answer, and when the first of them was. */
  readonly unanswered: { readonly count: number; readonly since: number }
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
}

/** `until`: when to ask again if nothing is reported before. `Infinity`: only a report helps. */
export type Answer =
  | { readonly is: 'sent'; readonly state: GateState; readonly probe?: number | undefined }
  | { readonly is: 'waits'; readonly state: GateState; readonly until: number }
  | { readonly is: 'ends'; readonly state: GateState; readonly retryAt: number }

/** May a request of this kind be sent now? The end of one that is sent must be recorded. */
export function ask(before: GateState, limits: GateLimits, question: Question): Answer {
  const { now, kind } = question
  const state = silenced(settled(before, limits, now), question)
  const phase = phaseOf(state, limits, now)
  const probeAt = nextProbeAt(state, limits, now)
  if (phase === 'open' && (kind === 'retry' || (kind === 'call' && probeAt > now))) {
    const refused = state.refused + (kind === 'call' ? 1 : 0)
    return { is: 'ends', state: { ...state, refused }, retryAt: probeAt }
  }
  // Probes need no place: the window is of the time before.
  const isFull = phase === 'healthy' && state.window !== undefined && question.inFlight >= state.window
  const until = isFull ? Number.POSITIVE_INFINITY : Math.max(probeAt, heldUntil(state, limits, question))
  if (until > now) return { is: 'waits', state, until: Math.min(until, opensAt(state, limits, question)) }
  const paid = pay(state, limits, question)
  if (phase === 'healthy') return { is: 'sent', state: paid }
  return { is: 'sent', state: { ...paid, probe: now, probeAt: now, refused: 0 }, probe: now }
}

/** Until when no kept operation is sent; undefined if one may be, or if only a report can tell. */
export function keptUntil(before: GateState, limits: GateLimits, now: number): number | undefined {
  const state = settled(before, limits, now)
  const until = Math.max(nextProbeAt(state, limits, now), standStill(state, now) ? state.keptAt : now)
  return until > now ? until : undefined
}

/**
 * A server that hangs is found out by its silence: until the first attempts time out, thousands would follow. Silence alone
 * opens no breaker, since a slow answer may still come.
 */
function silenced(state: GateState, { now, unanswered: { count, since } }: Question): GateState {
  if (state.failures > 0 || count < TUNING.silentRequests || now - since < silenceMs(state)) return state
  return { ...state, failures: failingStreak(state.share), probeAt: now, window: undefined }
}

function silenceMs({ usualMs, answers }: GateState): number {
  return answers < TUNING.knownAnswers ? TUNING.firstSilenceMs : Math.max(TUNING.silenceMs, 3 * usualMs)
}

function nextProbeAt(state: GateState, limits: GateLimits, now: number): number {
  const phase = phaseOf(state, limits, now)
  if (phase === 'healthy') return now
  if (state.probe !== undefined) return state.probe + TUNING.probePlaceMs
  const isBusy = phase === 'open' && limits.breaker && state.refused >= TUNING.refusedPerProbe
  return isBusy ? state.probeAt - limits.breaker.openForMs * TUNING.sooner : state.probeAt
}

/** Until when a request has to wait for a token or its time, whatever the phase is. */
function heldUntil(state: GateState, { budget }: GateLimits, question: Question): number {
  const { now, kind, spreadUntil = now } = question
  if (kind === 'call') return now
  if (kind === 'kept') {
    if (standStill(state, now)) return state.keptAt
    return state.credit >= A_TOKEN ? now : now + timeToToken(state.credit, budget)
  }
  const tokenAt = !budget || state.tokens >= A_TOKEN ? now : now + timeToToken(state.tokens, budget)
  return state.failures > 0 ? Math.max(tokenAt, spreadUntil) : tokenAt
}

function timeToToken(tokens: number, budget: BudgetLimits | false): number {
  if (!budget || budget.rest < 1) return Number.POSITIVE_INFINITY
  return Math.ceil(((1 - tokens) / budget.reservePerSecond) * 1000)
}

/** Calls and retries that wait must hear of it when the breaker opens. */
function opensAt({ failedAt, failures }: GateState, { breaker }: GateLimits, { kind }: Question): number {
  const isCounting = breaker && failedAt !== undefined && failures >= TUNING.leastStreak && kind !== 'kept'
  return isCounting ? failedAt + breaker.openAfterMs : Number.POSITIVE_INFINITY
}

function pay(state: GateState, { budget }: GateLimits, { kind, now, random }: Question): GateState {
  if (kind === 'call') return state
  if (kind === 'kept') return { ...state, credit: state.credit - 1, keptAt: now + state.gapMs * 2 * random() }
  return budget ? { ...state, tokens: state.tokens - 1 } : state
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
  if (now < state.at) return { ...alive(state), at: now, succeededAt: Math.min(now, state.succeededAt), probeAt: now }
  if (!budget) return { ...state, at: now }
  const step = ((now - state.at) / 1000) * budget.reservePerSecond
  const back = (from: number): number => from + Math.max(-step, Math.min(step, budget.rest - from))
  return { ...state, at: now, tokens: back(state.tokens), credit: back(state.credit) }
}

function forgetFailures(state: GateState, now: number): GateState {
  return state.failures > 0 && now - state.probeAt > TUNING.forgetMs ? alive(state) : state
}
