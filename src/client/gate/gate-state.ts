import { forgetGap, hasGap, type Pace, quicken, slowDown, standStill, timed, unpaced } from '../policy/pace.ts'
import { type BudgetLimits, type GateLimits, TUNING } from './gate-limits.ts'

/** The first attempt of a call, a retry, or the first attempt of an operation that a resume goes on with. */
export type RequestKind = 'call' | 'retry' | 'kept'

/**
 * `overload`: the server lives, and asks to come later (429). `ignored`: aborted, or not sent for a reason of our own; it
 * says nothing about the server.
 */
export type RequestOutcome = 'success' | 'failure' | 'overload' | 'ignored'

export type GatePhase = 'healthy' | 'failing' | 'open'

/**
 * What a client knows of one origin, and what it may send there.
 *
 *               a streak of failures that is                  no success for `openAfter`
 *               unlikely by chance                            since the first failure
 *     healthy ───────────────────────────────▶ failing ──────────────────────────────▶ open
 *        ▲    everything is sent; after a      one probe at a time, with a             calls end; one probe
 *        │    failure, `window` at once        growing pause; calls wait               in `openFor`
 *        └───────────────────────────────── success ───────────────────────────────────┘
 *
 * In every phase a retry costs a token. Every field is a number or absent, so that the state can be put into a journal or
 * a message as it is.
 */
export interface GateState extends Pace {
  /** What retries cost: a success adds `ratio`, and time leads back to `rest`. */
  readonly tokens: number
  /** Up to when the way back to rest is counted. */
  readonly at: number
  /** How many more kept operations may be in flight. One that succeeds returns its own and adds `ratio`. */
  readonly credit: number
  /** Since the last success, and when the first of them came. */
  readonly failures: number
  readonly failedAt?: number | undefined
  /** The last success; 0 before the first one. */
  readonly succeededAt: number
  /** The share of successes among the answers until the last success. */
  readonly share: number
  /** How many requests may be in flight. Absent: any number. */
  readonly window?: number | undefined
  /** Answers without a failure while there is a window. */
  readonly calm: number
  /** The pause before the next probe, and when it is over. */
  readonly pauseMs: number
  readonly probeAt: number
  /** When the probe that is in flight was sent; it also names the probe. */
  readonly probe?: number | undefined
  /** Calls that the open breaker has refused since the last probe. */
  readonly refused: number
}

/** Ten times a tenth is a token, whatever floating point makes of it. */
const A_TOKEN = 1 - 1e-9

export function newGateState({ budget }: GateLimits, now: number): GateState {
  const rest = budget ? budget.rest : 0
  return {
    tokens: rest,
    at: now,
    credit: Math.max(rest, 1),
    failures: 0,
    failedAt: undefined,
    succeededAt: 0,
    share: 1,
    window: undefined,
    calm: 0,
    pauseMs: 0,
    probeAt: now,
    probe: undefined,
    refused: 0,
    ...unpaced(now),
  }
}

export function phaseOf({ failures, failedAt, share }: GateState, { breaker }: GateLimits, now: number): GatePhase {
  if (failedAt === undefined) return 'healthy'
  if (breaker && failures >= TUNING.leastStreak && now >= failedAt + breaker.openAfterMs) return 'open'
  return failures >= failingStreak(share) ? 'failing' : 'healthy'
}

/** So many failures in a row would come by chance once in a hundred times, as far as the share of successes is known. */
export function failingStreak(share: number): number {
  const byChance = Math.log(TUNING.chance) / Math.log(Math.max(1e-9, 1 - share))
  return Math.min(TUNING.longestStreak, Math.max(TUNING.leastStreak, Math.ceil(byChance)))
}

export interface Question {
  readonly now: number
  readonly kind: RequestKind
  /** Requests that were sent since the phase last changed and have not ended. */
  readonly inFlight: number
  readonly random: () => number
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
  /** Requests that were sent since the last answer, and when the first of them was. */
  readonly unanswered: { readonly count: number; readonly since: number }
}

/** `until`: when to ask again if there are no news before; infinite: only news help. */
export type Answer =
  | { readonly is: 'sent'; readonly state: GateState; readonly probe?: number | undefined }
  | { readonly is: 'waits'; readonly state: GateState; readonly until: number }
  | { readonly is: 'ends'; readonly state: GateState; readonly retryAt: number }

/** May a request of this kind be sent now? One that is sent must be reported to {@link record}. */
export function ask(before: GateState, limits: GateLimits, question: Question): Answer {
  const { now, kind } = question
  const state = stalled(settled(before, limits, now), question)
  const phase = phaseOf(state, limits, now)
  const probeAt = nextProbeAt(state, limits, now)
  if (phase === 'open' && kind !== 'kept' && (probeAt > now || kind === 'retry')) {
    const refused = state.refused + (kind === 'call' ? 1 : 0)
    return { is: 'ends', state: { ...state, refused }, retryAt: probeAt }
  }
  const until = Math.max(probeAt, heldUntil(state, limits, question))
  if (until > now) return { is: 'waits', state, until: Math.min(until, opensAt(state, limits, kind)) }
  const paid = pay(state, limits, question)
  if (phase === 'healthy') return { is: 'sent', state: paid }
  return { is: 'sent', state: { ...paid, probe: now, probeAt: now, refused: 0 }, probe: now }
}

/** A server that hangs is found out by its silence: until the attempts time out, thousands would follow the first. */
function stalled(state: GateState, { now, unanswered: { count, since } }: Question): GateState {
  if (state.failedAt !== undefined || count < TUNING.stalledRequests || now - since < silenceMs(state)) return state
  return { ...state, failures: failingStreak(state.share), failedAt: now, probeAt: now, window: undefined }
}

/** How long no answer is no chance: several times as long as usual, if that is known. */
function silenceMs({ usualMs, answers }: GateState): number {
  return answers < TUNING.knownAnswers ? TUNING.firstSilenceMs : Math.max(TUNING.silenceMs, 3 * usualMs)
}

/** A probe without an answer keeps its place only for a while: a server that hung may be back. */
function nextProbeAt(state: GateState, limits: GateLimits, now: number): number {
  const { probe, probeAt, refused } = state
  const phase = phaseOf(state, limits, now)
  if (phase === 'healthy') return now
  if (probe !== undefined && probe <= now) return probe + TUNING.probePlaceMs
  const isBusy = phase === 'open' && refused >= TUNING.refusedPerProbe
  return isBusy && limits.breaker ? probeAt - limits.breaker.openForMs * TUNING.sooner : probeAt
}

function opensAt({ failedAt, failures }: GateState, { breaker }: GateLimits, kind: RequestKind): number {
  const isCounting = breaker && failedAt !== undefined && failures >= TUNING.leastStreak && kind !== 'kept'
  return isCounting ? failedAt + breaker.openAfterMs : Number.POSITIVE_INFINITY
}

/** Until when a request waits for a place, a token or its turn, whatever the phase is. */
function heldUntil(state: GateState, { budget }: GateLimits, question: Question): number {
  const { now, kind, inFlight, spreadUntil = now } = question
  if (state.window !== undefined && inFlight >= state.window) return Number.POSITIVE_INFINITY
  if (kind === 'call') return now
  if (kind === 'kept') {
    if (standStill(state, now)) return state.keptAt
    return !budget || state.credit >= A_TOKEN ? now : Number.POSITIVE_INFINITY
  }
  const tokenAt = !budget || state.tokens >= A_TOKEN ? now : now + timeToToken(state, budget)
  return state.failures > 0 ? Math.max(tokenAt, spreadUntil) : tokenAt
}

function timeToToken({ tokens }: GateState, { rest, reservePerSecond }: BudgetLimits): number {
  return rest < 1 ? Number.POSITIVE_INFINITY : Math.ceil(((1 - tokens) / reservePerSecond) * 1000)
}

/** Until when no kept operation is sent; undefined if one may be, or if only news can tell. */
export function keptUntil(before: GateState, limits: GateLimits, now: number): number | undefined {
  const state = settled(before, limits, now)
  const until = Math.max(nextProbeAt(state, limits, now), standStill(state, now) ? state.keptAt : now)
  return until > now ? until : undefined
}

function pay(state: GateState, { budget }: GateLimits, { kind, now, random }: Question): GateState {
  if (kind === 'call') return state
  if (kind === 'kept') return { ...state, credit: state.credit - 1, keptAt: now + state.gapMs * 2 * random() }
  return budget ? { ...state, tokens: state.tokens - 1 } : state
}

export interface EndedRequest {
  readonly now: number
  readonly kind: RequestKind
  readonly outcome: RequestOutcome
  readonly tookMs: number
  /** As in its {@link Answer}. */
  readonly probe?: number | undefined
  readonly inFlight: number
  readonly random: () => number
}

/** The state after a request that was sent has ended. */
export function record(before: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const state = settled(before, limits, ended.now)
  if (ended.outcome === 'success') return succeeded(state, limits, ended)
  if (ended.outcome === 'failure') return failed(state, limits, ended)
  const credit = ended.kind === 'kept' ? state.credit + 1 : state.credit
  if (ended.outcome === 'overload') return slowDown(shrunk(alive({ ...state, credit }), ended), ended)
  return { ...state, credit, probe: isProbe(state, ended) ? undefined : state.probe }
}

function succeeded(state: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const { now, kind } = ended
  const { usualMs, answers, isSlow } = timed(state, ended)
  const phase = phaseOf(state, limits, now)
  // A late answer to a request from before says how the server was.
  if (phase === 'open' && ended.probe === undefined) return { ...state, usualMs, answers }
  const widened = phase === 'healthy' ? grown(state, ended, isSlow) : { window: TUNING.firstWindow, calm: 0 }
  const well: GateState = {
    ...alive(state),
    ...widened,
    usualMs,
    answers,
    succeededAt: now,
    share: shareAfter(state),
    tokens: isSlow ? state.tokens : paidIn(state, limits, phase),
    credit: creditAfter(state, limits, { kind, isSlow }),
  }
  const done = hasGap(well, now) ? quicken(well, { now, kind }) : well
  return isSlow ? slowDown(done, ended) : done
}

/** An answer of any kind shows that there is a server. */
function alive(state: GateState): GateState {
  return { ...state, failures: 0, failedAt: undefined, pauseMs: 0, probe: undefined, refused: 0 }
}

/** Probes tell nothing of how flaky the server is: only the failures count that made it failing. */
function shareAfter({ share, failures }: GateState): number {
  const fade = 1 - 1 / TUNING.answersInShare
  return share * fade ** (1 + Math.min(failures, failingStreak(share))) + 1 - fade
}

/** A window that holds nobody up is not needed any more. */
function grown(state: GateState, ended: EndedRequest, isSlow: boolean): Pick<GateState, 'window' | 'calm'> {
  const { window, calm } = state
  const isNeeded = window !== undefined && (calm < TUNING.calmAnswers || 2 * ended.inFlight > window)
  if (!isNeeded) return { window: undefined, calm: 0 }
  return { window: isSlow ? Math.max(TUNING.leastWindow, window * TUNING.slowFactor) : window + 1, calm: calm + 1 }
}

function shrunk(state: GateState, { inFlight }: EndedRequest): GateState {
  const window = (state.window ?? Math.max(inFlight, TUNING.usualWindow)) * TUNING.failureFactor
  return { ...state, window: Math.max(TUNING.leastWindow, window), calm: 0 }
}

/** A server that was given up and is back is asked for no more than a new client would. */
function paidIn({ tokens }: GateState, { budget }: GateLimits, phase: GatePhase): number {
  if (!budget) return tokens
  const most = phase === 'open' ? budget.rest : budget.burst
  return Math.max(tokens, Math.min(most, tokens + budget.ratio))
}

interface Paying {
  readonly kind: RequestKind
  readonly isSlow: boolean
}

/** A kept operation that is done shows that there is room for one more of them; a call, that there is a server. */
function creditAfter({ credit }: GateState, limits: GateLimits, { kind, isSlow }: Paying): number {
  const returned = kind === 'kept' ? credit + 1 : credit
  if (isSlow) return Math.min(returned, Math.max(1, returned / 2))
  const { ratio, burst } = limits.budget || { ratio: 1, burst: 1 }
  return Math.max(returned, Math.min(kind === 'kept' ? TUNING.mostKept : burst, returned + ratio))
}

function failed(state: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const { now, random, kind } = ended
  const phase = phaseOf(state, limits, now)
  const failures = state.failures + 1
  const isSilent = now - state.succeededAt >= TUNING.silentMs && failures >= TUNING.leastStreak
  const isBroke = limits.budget !== false && (kind === 'kept' ? state.credit : state.tokens) < A_TOKEN
  const slowed = isBroke ? slowDown(state, { now, random, isSilent }) : state
  const next = { ...slowed, failures, failedAt: state.failedAt ?? now }
  if (phase === 'healthy') {
    const isFailing = phaseOf(next, limits, now) !== 'healthy'
    return isFailing ? paused(next, limits, ended) : { ...shrunk(next, ended), probeAt: now }
  }
  return isProbe(state, ended) ? paused(next, limits, ended) : next
}

/** Clients that failed together must not probe together. */
function paused(state: GateState, limits: GateLimits, { now, random, probe }: EndedRequest): GateState {
  const isOpen = phaseOf(state, limits, now) === 'open'
  const pauseMs = Math.min(TUNING.longestPauseMs, Math.max(TUNING.firstPauseMs, state.pauseMs * 2))
  const lastsMs = isOpen && limits.breaker ? limits.breaker.openForMs : pauseMs
  const credit = Math.min(state.credit, limits.budget ? limits.budget.rest : 1)
  const common = { window: undefined, calm: 0, probe: undefined, refused: 0, pauseMs, credit }
  // From when it was sent: a probe that hangs must not make the pause longer.
  const from = probe ?? now
  return { ...state, ...common, probeAt: Math.max(now, from + lastsMs * (0.75 + random() / 2)) }
}

function isProbe(state: GateState, { probe }: EndedRequest): boolean {
  return probe !== undefined && probe === state.probe
}

/** After the time since the last look: the reserve leads back to rest, and old failures are forgotten. */
function settled(before: GateState, { budget }: GateLimits, now: number): GateState {
  if (now === before.at) return before
  const state = forgetFailures(forgetGap(before, now), now)
  // A clock that was set back brings nothing and takes nothing; counting goes on from there.
  if (now < state.at) return { ...alive(state), at: now, succeededAt: Math.min(now, state.succeededAt), probeAt: now }
  if (!budget) return { ...state, at: now }
  const step = ((now - state.at) / 1000) * budget.reservePerSecond
  const back = (from: number): number => from + Math.max(-step, Math.min(step, budget.rest - from))
  return { ...state, at: now, tokens: back(state.tokens), credit: back(state.credit) }
}

/** If nobody has asked for a while, failures say nothing of now. */
function forgetFailures(state: GateState, now: number): GateState {
  return state.failures > 0 && now - state.probeAt > TUNING.forgetMs ? alive(state) : state
}
