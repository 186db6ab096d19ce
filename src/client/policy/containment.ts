import { forgetGap, hasGap, type Pace, quicken, slowDown, standStill, timed, unpaced } from './pace.ts'

/** The first attempt of a call, a retry, or the first attempt of an operation that a resume goes on with. */
export type RequestKind = 'call' | 'retry' | 'kept'

/**
 * `overload`: the server lives, and asks to come later (429). `ignored`: aborted, or not sent for a reason of our own; it
 * says nothing about the server.
 */
export type RequestOutcome = 'success' | 'failure' | 'overload' | 'ignored'

export interface BudgetLimits {
  readonly ratio: number
  readonly burst: number
  readonly reservePerSecond: number
  /** What a new client has, and a quiet one comes back to. */
  readonly rest: number
}

export interface BreakerLimits {
  readonly minimumRequests: number
  readonly openForMs: number
}

export interface ContainmentLimits {
  readonly budget: BudgetLimits | false
  readonly breaker: BreakerLimits | false
}

/**
 * What a client knows of one origin, and what it may send there:
 *
 *     tokens                                      requests
 *      burst ┬  a success adds `ratio`,            closed ──── so many failures, and no success for 2 s ───▶ open
 *            │  a slow one nothing                    ▲                                                       │
 *       rest ┼  two retries, by default               │                                                    openFor
 *            │  time leads back to it                 │                                                       ▼
 *          0 ┴  calls only                            └──────────────── success ───────────────────────── one probe
 *
 * A retry costs a token. A kept operation pays one, too, and gets it back if it is done; its {@link Pace} comes on top.
 * Every field is a number or absent, so that the state can be put into a journal or a message as it is.
 */
export interface Containment extends Pace {
  readonly tokens: number
  /** Up to when the way back to rest is counted. */
  readonly at: number
  /** Since the last success. */
  readonly failures: number
  /** The last success; 0 before the first one. */
  readonly succeededAt: number
  /** Absent: the circuit breaker is closed. */
  readonly openUntil?: number | undefined
  /** When the probe that is under way was sent; it also names the probe. */
  readonly probe?: number | undefined
}

/** Ten times a tenth is a token, whatever floating point makes of it. */
const A_TOKEN = 1 - 1e-9
/** A busy client sees many failures within a moment. Dead is a server without any success for this long. */
const SILENT_MS = 2000
/** After a pause of our own, one failure or two are no sign of death. */
const SILENT_FAILURES = 3

export function newContainment({ budget }: ContainmentLimits, now: number): Containment {
  const unbroken = { openUntil: undefined, probe: undefined }
  return { tokens: budget ? budget.rest : 0, at: now, failures: 0, succeededAt: 0, ...unbroken, ...unpaced(now) }
}

export interface PermitRequest {
  readonly now: number
  readonly kind: RequestKind
  readonly random: () => number
}

export interface Permit {
  readonly state: Containment
  readonly given: boolean
  /** Where not given: why, and when to ask again. */
  readonly reason?: 'breaker' | 'budget'
  readonly retryAt?: number
  /** Set on the half-open probe: `recordOutcome` recognises it by this. */
  readonly probe?: number
}

/** Asked right before every request. A request with a permit must be reported to `recordOutcome`. */
export function acquirePermit(before: Containment, limits: ContainmentLimits, question: PermitRequest): Permit {
  const { now, kind } = question
  const state = settled(before, limits, now)
  const refused = refusalOf(state, limits, question)
  if (refused) return { state, given: false, ...refused }
  const paid = kind === 'kept' ? keptSent(state, limits, question) : state
  const { openUntil } = state
  if (!limits.breaker || openUntil === undefined) return { state: paid, given: true }
  // Also where a clock was set back, no probe is older than the time from which there are probes.
  return { state: { ...paid, openUntil: Math.min(openUntil, now), probe: now }, given: true, probe: now }
}

type Refusal = Required<Pick<Permit, 'reason' | 'retryAt'>>

function refusalOf(
  state: Containment,
  limits: ContainmentLimits,
  { now, kind }: Pick<PermitRequest, 'now' | 'kind'>,
): Refusal | undefined {
  if (kind === 'kept') {
    if (standStill(state, now)) return { reason: 'budget', retryAt: state.keptAt }
    const { budget } = limits
    if (budget && state.tokens < A_TOKEN) return { reason: 'budget', retryAt: now + timeToToken(state, budget) }
  }
  const openUntil = limits.breaker ? closedUntil(state, limits.breaker, now) : undefined
  return openUntil !== undefined && now < openUntil ? { reason: 'breaker', retryAt: openUntil } : undefined
}

/** The state after a retry was paid for; undefined where there is no token. */
export function payForRetry(before: Containment, limits: ContainmentLimits, now: number): Containment | undefined {
  const state = settled(before, limits, now)
  if (!limits.budget) return state
  return state.tokens >= A_TOKEN ? { ...state, tokens: state.tokens - 1 } : undefined
}

/** Until when no operation is taken up for this origin; undefined where one may be. */
export function keptUntil(before: Containment, limits: ContainmentLimits, now: number): number | undefined {
  return refusalOf(settled(before, limits, now), limits, { now, kind: 'kept' })?.retryAt
}

export interface EndedRequest extends PermitRequest {
  readonly outcome: RequestOutcome
  readonly tookMs: number
  /** As in its permit. */
  readonly probe?: number | undefined
}

/** The state after a request with a permit has ended. */
export function recordOutcome(before: Containment, limits: ContainmentLimits, ended: EndedRequest): Containment {
  const state = settled(before, limits, ended.now)
  if (ended.outcome === 'success') return succeeded(state, limits, ended)
  if (ended.outcome === 'failure') return failed(state, limits, ended)
  if (ended.outcome === 'overload') return slowDown(alive(state, ended), ended)
  const tokens = ended.kind === 'kept' ? returned(state, limits) : state.tokens
  return { ...state, tokens, probe: isProbe(state, ended) ? undefined : state.probe }
}

/** The tokens as an onlooker reads them. */
export function tokensAt(state: Containment, limits: ContainmentLimits, now: number): number {
  return limits.budget ? settled(state, limits, now).tokens : Number.POSITIVE_INFINITY
}

function succeeded(state: Containment, limits: ContainmentLimits, ended: EndedRequest): Containment {
  const { usualMs, answers, isSlow } = timed(state, ended)
  // An answer that was under way when the breaker opened says how the server was, not how it is.
  if (limits.breaker && !speaksOfNow(state, ended)) return { ...state, usualMs, answers }
  const paid = paidIn(state, limits, { kind: ended.kind, isSlow })
  // A server that is back is asked for no more than a new client would.
  const rest = limits.budget ? limits.budget.rest : 0
  const tokens = state.openUntil === undefined ? paid : Math.min(paid, Math.max(state.tokens, rest))
  // Field by field: this is on the way of every answer, and a spread costs several times as much.
  const well: Containment = {
    tokens,
    at: state.at,
    failures: 0,
    succeededAt: ended.now,
    openUntil: undefined,
    probe: undefined,
    gapMs: state.gapMs,
    keptAt: state.keptAt,
    usualMs,
    answers,
  }
  const done = hasGap(well, ended.now) ? quicken(well, ended) : well
  // In an overload everything that is still answered is slow.
  return isSlow ? slowDown(done, ended) : done
}

/** An answer of any kind shows that there is a server. */
function alive(state: Containment, ended: EndedRequest): Containment {
  if (!speaksOfNow(state, ended)) return state
  return { ...state, failures: 0, openUntil: undefined, probe: undefined }
}

interface Payment {
  readonly kind: RequestKind
  readonly isSlow: boolean
}

function paidIn(state: Containment, limits: ContainmentLimits, { kind, isSlow }: Payment): number {
  if (!limits.budget) return state.tokens
  const { ratio, burst } = limits.budget
  const tokens = kind === 'kept' ? returned(state, limits) : state.tokens
  return isSlow ? tokens : Math.max(tokens, Math.min(burst, tokens + ratio))
}

function returned({ tokens }: Containment, { budget }: ContainmentLimits): number {
  return budget ? Math.max(tokens, Math.min(budget.burst, tokens + 1)) : tokens
}

function failed(state: Containment, limits: ContainmentLimits, ended: EndedRequest): Containment {
  const { now, random } = ended
  const failures = state.failures + 1
  const hasNoSuccess = now - state.succeededAt >= SILENT_MS
  const isSilent = hasNoSuccess && failures >= SILENT_FAILURES
  const isBroke = limits.budget !== false && state.tokens < A_TOKEN
  const next = { ...(isBroke ? slowDown(state, { now, random, isSilent }) : state), failures }
  const isOpen = state.openUntil !== undefined
  if (!limits.breaker || (isOpen && !isProbe(state, ended))) return next
  if (!isOpen && !(hasNoSuccess && failures >= limits.breaker.minimumRequests)) return next
  // Clients that failed together must not probe together.
  return { ...next, openUntil: now + limits.breaker.openForMs * (0.75 + random() / 2), probe: undefined }
}

/** Was it sent since the breaker may let probes through? One that was too slow to keep its place still shows a server that answers. */
function speaksOfNow({ openUntil }: Containment, { probe }: EndedRequest): boolean {
  return openUntil === undefined || (probe !== undefined && probe >= openUntil)
}

function isProbe(state: Containment, { probe }: EndedRequest): boolean {
  return probe !== undefined && probe === state.probe
}

/** Until when nothing goes; a time that has passed: a probe may go. Undefined: closed. */
function closedUntil({ openUntil, probe }: Containment, limits: BreakerLimits, now: number): number | undefined {
  if (openUntil === undefined) return undefined
  const { openForMs } = limits
  // After the clock was set back the breaker must not stay open for longer than it would have.
  const opensAt = openUntil > now + openForMs * 1.25 ? now : openUntil
  const isUnderWay = probe !== undefined && Math.abs(now - probe) < openForMs
  return isUnderWay ? Math.max(opensAt, probe + openForMs) : opensAt
}

/** Paid in advance, so that no more are under way than there are tokens: the slow start of a backlog. */
function keptSent(state: Containment, { budget }: ContainmentLimits, { now, random }: PermitRequest): Containment {
  const tokens = budget ? state.tokens - 1 : state.tokens
  return { ...state, tokens, keptAt: now + state.gapMs * 2 * random() }
}

/** After the time since the last look: the reserve leads back to rest, from below and from above. */
function settled(before: Containment, { budget }: ContainmentLimits, now: number): Containment {
  if (now === before.at) return before
  const state = forgetGap(before, now)
  // A clock that was set back brings nothing and takes nothing; counting goes on from there.
  if (now < state.at) return { ...state, at: now, succeededAt: Math.min(now, state.succeededAt) }
  if (!budget) return { ...state, at: now }
  const { rest } = budget
  const step = ((now - state.at) / 1000) * budget.reservePerSecond
  const tokens = state.tokens > rest ? Math.max(rest, state.tokens - step) : Math.min(rest, state.tokens + step)
  return { ...state, at: now, tokens }
}

function timeToToken({ tokens }: Containment, budget: BudgetLimits): number {
  return budget.rest < 1 ? Number.POSITIVE_INFINITY : Math.ceil(((1 - tokens) / budget.reservePerSecond) * 1000)
}
