import { A_TOKEN, balance, spend, tokenAt } from './bucket.ts'
import { type GateLimits, TUNING } from './gate-limits.ts'
import { failingStreak, type GateState, isFlaky, opensAt, phaseOf, type RequestKind, settled } from './gate-state.ts'
import { standStill } from './pace.ts'
import { blipMs } from './spread.ts'
import type { Traffic } from './traffic.ts'

/** One request, and what is on its way before it. */
export interface Asking extends Traffic {
  readonly kind: RequestKind
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
}

export interface Question extends Asking {
  readonly random: () => number
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
  const { now, kind } = question
  const state = stateNow(before, limits, question)
  const phase = phaseOf(state, limits, now)
  const probeAt = nextProbeAt(state, limits, now)
  if (phase === 'open' && kind !== 'kept') {
    const mayProbe = kind === 'call' && probeAt <= now && !isFull(state, limits, question)
    if (!mayProbe && !isExpected(state, limits, now)) return refused(state, kind, Math.max(now, probeAt))
  }
  const heldAt = isFull(state, limits, question) ? Number.POSITIVE_INFINITY : heldUntil(state, limits, question)
  const waitsUntil = Math.max(probeAt, state.nextAt, heldAt)
  if (isTooLate(state, limits, question)) return { is: 'late', state, retryAt: waitsUntil }
  if (waitsUntil > now) {
    // Calls and retries that wait must hear of it when the breaker opens.
    const opens = phase === 'open' ? Number.POSITIVE_INFINITY : opensAt(state, limits.breaker)
    const endsAt = brokeUntil(state, limits, question)
    if (endsAt <= now) return refused(state, kind, waitsUntil)
    return { is: 'waits', state, until: Math.min(waitsUntil, opens, endsAt) }
  }
  const paid = spaced(pay(state, limits, question), limits, now)
  if (phase === 'healthy') return { is: 'sent', state: paid }
  const pauseMs = state.failedAt === undefined ? state.pauseMs * TUNING.silentFaster : state.pauseMs
  const hangsSince = state.hangsSince ?? now
  return { is: 'sent', state: { ...paid, pauseMs, probe: now, probeAt: now, hangsSince, refused: 0 }, probe: now }
}

/** When a request of this kind may go, as far as that is a matter of time; undefined if only a report can tell. */
export function nextAt(before: GateState, limits: GateLimits, asking: Asking): number | undefined {
  const state = stateNow(before, limits, asking)
  if (isFull(state, limits, asking)) return undefined
  const at = Math.max(nextProbeAt(state, limits, asking.now), state.nextAt, heldUntil(state, limits, asking))
  return at > asking.now && at < Number.POSITIVE_INFINITY ? at : undefined
}

/** As it is for one who asks now. */
export function stateNow(before: GateState, limits: GateLimits, traffic: Traffic): GateState {
  return silenced(settled(before, limits, traffic.now), traffic)
}

/** Is it certain that it can't go before it leaves? Requests in flight may bring a token or a place; time alone may not. */
function isTooLate(state: GateState, limits: GateLimits, question: Question): boolean {
  const { now, kind, leaveAt } = question
  if (isNeverPaid(state, limits, kind)) return true
  // A probe that is in flight may end the wait at any moment.
  const probeAt = state.probe === undefined ? nextProbeAt(state, limits, now) : now
  const heldAt = kind === 'kept' ? keptHeldUntil(state, limits, question) : now
  return Math.max(probeAt, state.nextAt, heldAt) > leaveAt
}

/** Does nothing hold a call up? */
export function isPlain(state: GateState, limits: GateLimits, traffic: Traffic): boolean {
  if (state.failures > 0 || state.window !== undefined || state.nextAt > traffic.now || state.spaceMs > 0) return false
  return limits.perSecond === undefined && hasRoom(limits, traffic) && !isSilent(state, traffic)
}

export function hasRoom(limits: GateLimits, { inFlight, reading }: Traffic): boolean {
  const { concurrency = Number.POSITIVE_INFINITY, connections } = limits
  return inFlight < concurrency && (connections === undefined || inFlight + reading < connections())
}

/** A call ends at once while the circuit breaker is open. Undefined: it is not open, or a probe is due. */
export function refuseCall(state: GateState, limits: GateLimits, now: number): (Answer & { is: 'open' }) | undefined {
  if (phaseOf(state, limits, now) !== 'open') return undefined
  const probeAt = nextProbeAt(state, limits, now)
  return probeAt > now && !isExpected(state, limits, now) ? refused(state, 'call', probeAt) : undefined
}

/** The server has said when it will be back, and that is soon: calls wait for the probe that goes then, and end with it. */
function isExpected(state: GateState, limits: GateLimits, now: number): boolean {
  if (state.backAt === undefined) return false
  if (state.probe !== undefined) return true
  const waitMs = nextProbeAt(state, limits, now) - now
  return waitMs > 0 && waitMs <= blipMs(limits) * TUNING.openLate
}

function refused(state: GateState, kind: RequestKind, retryAt: number): Answer & { is: 'open' } {
  return { is: 'open', state: { ...state, refused: state.refused + (kind === 'call' ? 1 : 0) }, retryAt }
}

/** Probes need no place in the window: it is of the time before. */
export function isFull(state: GateState, limits: GateLimits, question: Asking): boolean {
  if (!hasRoom(limits, question)) return true
  const { now, kind, kept, inPhase } = question
  if (kind === 'kept' && kept >= TUNING.mostKept) return true
  const { window = Number.POSITIVE_INFINITY } = state
  return inPhase >= window && phaseOf(state, limits, now) === 'healthy'
}

/** The next request has its distance from this one. */
function spaced(state: GateState, { perSecond }: GateLimits, now: number): GateState {
  const gapMs = Math.max(perSecond === undefined ? 0 : 1000 / perSecond, now < state.spacedUntil ? state.spaceMs : 0)
  return gapMs > 0 ? { ...state, nextAt: now + gapMs } : state
}

/** Until when no kept operation is sent; undefined if one may be, or if only a report can tell. */
export function keptUntil(
  before: GateState,
  limits: GateLimits,
  { now, inFlight }: Pick<Traffic, 'now' | 'inFlight'>,
): number | undefined {
  const state = settled(before, limits, now)
  const until = Math.max(nextProbeAt(state, limits, now), state.nextAt, keptHeldUntil(state, limits, { now, inFlight }))
  return until > now ? until : undefined
}

/** What is in flight may bring a token, so that only the pause counts. */
function keptHeldUntil(
  state: GateState,
  limits: GateLimits,
  { now, inFlight }: Pick<Traffic, 'now' | 'inFlight'>,
): number {
  if (inFlight === 0) return keptAt(state, limits, now)
  return standStill(state, now) ? state.keptAt : now
}

function keptAt(state: GateState, { budget }: GateLimits, now: number): number {
  const creditAt = tokenAt(balance(state, 'kept'), budget, now)
  return standStill(state, now) ? Math.max(state.keptAt, creditAt) : creditAt
}

/**
 * A server that hangs is found out by its silence: until the first attempts time out, thousands would follow. But a slow
 * answer may still come: silence alone opens no breaker, and holds nobody for long.
 */
function silenced(state: GateState, traffic: Traffic): GateState {
  if (state.failures > 0 || !isSilent(state, traffic)) return state
  const pauseMs = TUNING.silentPauseMs
  return { ...state, failures: failingStreak(state.share), pauseMs, probeAt: traffic.now, window: undefined }
}

function isSilent({ usualMs, answers }: GateState, { now, unanswered: { count, since } }: Traffic): boolean {
  const isKnown = answers >= TUNING.knownAnswers && count >= TUNING.silentRequests
  return isKnown && now - since >= Math.max(TUNING.silenceMs, 3 * usualMs)
}

export function nextProbeAt(state: GateState, limits: GateLimits, now: number): number {
  if (phaseOf(state, limits, now) === 'healthy') return now
  if (state.probe !== undefined) return Math.max(state.nextAt, state.probe + probePlaceMs(state))
  const isBusy = limits.breaker && state.refused >= TUNING.refusedPerProbe
  const soonerMs = isBusy ? limits.breaker.openForMs * TUNING.sooner : 0
  return Math.max(state.nextAt, state.probeAt - soonerMs)
}

/** A probe without an answer makes room for the next one. */
function probePlaceMs({ failedAt, pauseMs }: GateState): number {
  return failedAt === undefined ? pauseMs : TUNING.probePlaceMs
}

/** Until when a request has to wait for a token or its time, whatever the phase is. */
export function heldUntil(state: GateState, limits: GateLimits, question: Asking): number {
  const { now, kind, spreadUntil = now } = question
  if (kind === 'call') return now
  if (kind === 'kept') return keptAt(state, limits, now)
  const earnedAt = tokenAt(state.tokens, limits.budget, now)
  if (state.failures === 0) return earnedAt
  return Math.max(spreadUntil, earnedAt, lastingAt(state, limits, now))
}

/**
 * At a server that fails, what the tokens can pay for has to last: of more than a new client has, one goes after each gap until
 * the longest blip is over; the last one goes when a short blip is. At a server that was flaky, failing may be chance.
 */
function lastingAt(state: GateState, limits: GateLimits, now: number): number {
  const { budget } = limits
  const { failedAt, tokens } = state
  if (!budget || failedAt === undefined || isFlaky(state) || phaseOf(state, limits, now) === 'healthy') return now
  const left = Math.floor(tokens + 1 - A_TOKEN)
  if (left <= TUNING.soonRetries) return left > 1 ? now : failedAt + blipMs(limits) * TUNING.shortBlip
  const lastsMs = blipMs(limits) * TUNING.openLate
  return failedAt + lastsMs - ((left - 1) * lastsMs) / Math.max(1, budget.burst - TUNING.soonRetries)
}

/**
 * Until when a retry waits for a token that only time could bring. Thousands of clients that each made one more request by
 * then would be more than their server can take when it is back.
 */
function brokeUntil(state: GateState, limits: GateLimits, { kind, now, inFlight }: Asking): number {
  const { failedAt, tokens } = state
  const isBroke = kind === 'retry' && tokens < A_TOKEN && inFlight === 0
  if (!isBroke || failedAt === undefined || phaseOf(state, limits, now) !== 'failing') return Number.POSITIVE_INFINITY
  return failedAt + blipMs(limits) * TUNING.openLate
}

/** A budget that nothing fills has no token for any retry. */
export function isNeverPaid({ tokens }: GateState, { budget }: GateLimits, kind: RequestKind): boolean {
  if (!budget || kind !== 'retry' || tokens >= A_TOKEN) return false
  return budget.burst < 1 || (budget.ratio === 0 && budget.reservePerSecond === 0)
}

function pay(state: GateState, { budget }: GateLimits, { kind, now, random }: Question): GateState {
  if (kind === 'call') return state
  const paid = budget ? { ...state, ...spend(state, kind) } : state
  return kind === 'kept' ? { ...paid, keptAt: now + state.gapMs * 2 * random() } : paid
}
