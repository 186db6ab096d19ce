import { A_TOKEN, type Bucket, balance, earn, giveBack, halve } from './bucket.ts'
import { type GateLimits, TUNING } from './gate-limits.ts'
import {
  alive,
  failingStreak,
  type GatePhase,
  type GateState,
  NO_WINDOW,
  phaseOf,
  type RequestKind,
  settled,
} from './gate-state.ts'
import { isLater, isSlow as isSlowAnswer, quicken, slowDown, timed } from './pace.ts'

/**
 * `overload`: the server lives, and asks to come later (429). `ignored`: aborted, or not sent for a reason of our own; it
 * says nothing about the server.
 */
export type RequestOutcome = 'success' | 'failure' | 'overload' | 'ignored'

/** What the answer asks of those who come next. */
export interface ServerWish {
  /** Nobody is to come before so long. */
  readonly retryAfterMs?: number | undefined
  /** The quota is nearly used up: a gap between two requests, for so long. */
  readonly spaceMs?: number | undefined
  readonly spaceForMs?: number | undefined
}

/** `cut`: its caller's deadline ended it before the attempt timeout did. */
export interface Report {
  readonly outcome: RequestOutcome | 'cut'
  readonly tookMs: number
  readonly wish?: ServerWish | undefined
}

export interface EndedRequest extends Report {
  readonly outcome: RequestOutcome
  readonly now: number
  readonly kind: RequestKind
  /** As in the answer that let it go. */
  readonly probe?: number | undefined
  /** This one included. */
  readonly inFlight: number
  readonly random: () => number
}

interface Timed {
  readonly kind: RequestKind
  readonly isSlow: boolean
  readonly phase: GatePhase
}

/** One request after failing, and one more at once for each success. */
const FIRST_STEP = { window: TUNING.firstWindow, calm: 0, aloneMs: undefined }

/** A caller that had little time left says nothing of the server, unless an answer should have come by then. */
export function outcomeOf(state: GateState, { outcome, tookMs }: Report): RequestOutcome {
  if (outcome !== 'cut') return outcome
  return state.answers === 0 || isSlowAnswer(state, tookMs) ? 'failure' : 'ignored'
}

/** The state after a request that was sent has ended. */
export function recordOutcome(before: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const state = settled(before, limits, ended.now)
  const after = ended.outcome === 'success' ? succeeded(state, limits, ended) : unsuccessful(state, limits, ended)
  return ended.wish ? granted(after, ended.wish, ended) : after
}

function granted(state: GateState, wish: ServerWish, { now, random }: EndedRequest): GateState {
  const { retryAfterMs, spaceMs = 0, spaceForMs = 0 } = wish
  const spaced = { ...state, spaceMs: Math.min(TUNING.longestHoldMs, spaceMs), spacedUntil: now + spaceForMs }
  if (retryAfterMs === undefined) return spaced
  // Those who were told the same must not come back together.
  const holdMs = Math.min(TUNING.longestHoldMs, retryAfterMs) * (1 + random() / 10)
  const backAt = state.failures > 0 ? now + holdMs : undefined
  return { ...spaced, backAt, nextAt: Math.max(state.nextAt, now + holdMs) }
}

function unsuccessful(state: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  if (ended.outcome === 'failure') return failed(state, limits, ended)
  if (ended.outcome === 'overload') return slowDown(narrowed(alive(state), ended), ended)
  const back = { ...state, ...giveBack(state, limits.budget, ended.kind) }
  return isProbe(state, ended) ? { ...back, ...unprobed(state, limits, ended.now) } : back
}

/** A probe that is gone tells nothing more of a server that hangs; what was known by then stays. */
function unprobed(state: GateState, limits: GateLimits, now: number): Partial<GateState> {
  const isOpen = phaseOf(state, limits, now) === 'open'
  return { probe: undefined, hangsSince: undefined, triedAt: isOpen ? now : state.triedAt }
}

function succeeded(state: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const { now, kind } = ended
  const { usualMs, answers, isSlow, isPrompt } = timed(state, ended)
  const phase = phaseOf(state, limits, now)
  // The late answer to a request from before it opened tells how the server was, not how it is.
  if (phase === 'open' && ended.probe === undefined)
    return { ...state, ...giveBack(state, limits.budget, kind), usualMs, answers }
  const { window, calm, aloneMs } = windowAfter(state, { ended, isSlow, phase })
  const { tokens, credit } = bucketAfter(state, limits, { kind, isSlow, phase })
  const { gapMs, keptAt } = quicken(state, { now, kind, isPrompt })
  // Field by field: this is on the way of every answer, and a spread costs several times as much.
  const well: GateState = {
    tokens,
    credit,
    at: state.at,
    failures: 0,
    failedAt: undefined,
    triedAt: undefined,
    succeededAt: now,
    share: shareAfter(state),
    window,
    calm,
    aloneMs,
    pauseMs: 0,
    probeAt: state.probeAt,
    probe: undefined,
    hangsSince: undefined,
    refused: 0,
    nextAt: state.nextAt,
    backAt: undefined,
    spaceMs: now < state.spacedUntil ? state.spaceMs : 0,
    spacedUntil: state.spacedUntil,
    gapMs,
    keptAt,
    usualMs,
    answers,
  }
  return isSlow ? slowDown(well, ended) : well
}

/** Probes tell nothing of how flaky a server is: only the failures count that made it failing. */
function shareAfter({ share, failures }: GateState): number {
  const fade = 1 - 1 / TUNING.answersInShare
  const counted = failures === 0 ? 0 : Math.min(failures, failingStreak(share))
  return share * fade ** (1 + counted) + 1 - fade
}

/**
 * Without failures a slow answer narrows nothing: some take long by nature. After one it does, until a request is alone, and then
 * another one: if they are slow as well, it is not because of the others. A window that holds nobody up goes.
 */
function windowAfter(
  state: GateState,
  { ended, isSlow, phase }: { readonly ended: EndedRequest } & Pick<Timed, 'isSlow' | 'phase'>,
): Pick<GateState, 'window' | 'calm' | 'aloneMs'> {
  const { window, calm, failedAt } = state
  if (phase !== 'healthy' && failedAt !== undefined) return FIRST_STEP
  if (window === undefined) return NO_WINDOW
  const isCalm = calm >= TUNING.calmAnswers
  if (isCalm && 2 * ended.inFlight <= window) return NO_WINDOW
  const aloneMs = isAlone(state, ended) ? ended.tookMs : state.aloneMs
  const isCrowded = isSlow && (state.aloneMs === undefined || isLater(ended.tookMs, state.aloneMs))
  if (!isCrowded) return { window: window + 1, calm: calm + 1, aloneMs }
  return { window: isCalm ? window : Math.max(1, window * TUNING.slowFactor), calm: calm + 1, aloneMs }
}

/** Nothing else was answered while it was on its way, and nothing else is. */
function isAlone({ succeededAt }: GateState, { now, tookMs, inFlight }: EndedRequest): boolean {
  return inFlight <= 1 && now - tookMs >= succeededAt
}

function narrowed(state: GateState, { inFlight }: EndedRequest): GateState {
  const window = (state.window ?? Math.max(inFlight, TUNING.usualWindow)) * TUNING.failureFactor
  return { ...state, window: Math.max(1, window), calm: 0 }
}

/** A server that was given up and is back is asked for no more than a new client would. */
function bucketAfter(state: GateState, { budget }: GateLimits, { kind, isSlow, phase }: Timed): Bucket {
  if (isSlow) return halve(giveBack(state, budget, kind))
  const bucket = earn(state, budget, kind)
  if (phase !== 'open' || !budget) return bucket
  return { tokens: Math.max(state.tokens, Math.min(budget.rest, bucket.tokens)), credit: 0 }
}

function failed(state: GateState, limits: GateLimits, ended: EndedRequest): GateState {
  const { now, random, kind, tookMs } = ended
  const failures = state.failures + 1
  const isSilent = now - state.succeededAt >= TUNING.deadAfterMs && failures >= TUNING.leastStreak
  const isBroke = !limits.budget || balance(state, kind) < A_TOKEN
  // What can be paid for goes on at a server that is flaky, but not at one that has too much to do.
  const slowed = isBroke || isSlowAnswer(state, tookMs) ? slowDown(state, { now, random, isSilent }) : state
  const tried = triedAfter(state, limits, ended)
  const next = { ...slowed, failures, failedAt: state.failedAt ?? now, triedAt: tried, backAt: undefined }
  if (phaseOf(state, limits, now) !== 'healthy') return isProbe(state, ended) ? paused(next, limits, ended) : next
  if (phaseOf(next, limits, now) !== 'healthy') return paused(next, limits, ended)
  return { ...narrowed(next, ended), probeAt: now }
}

/** Until the next probe. The pause counts from the last one's start, and is jittered: clients that failed together must not probe together. */
function paused(state: GateState, limits: GateLimits, { now, random, probe }: EndedRequest): GateState {
  const { breaker } = limits
  const pauseMs = Math.min(TUNING.longestPauseMs, Math.max(TUNING.firstPauseMs, state.pauseMs * 2))
  const lastsMs = breaker && phaseOf(state, limits, now) === 'open' ? breaker.openForMs : pauseMs
  const probeAt = Math.max(now, (probe ?? now) + lastsMs * (0.75 + random() / 2))
  // While nothing succeeds, the credit that was earned at another time does not count.
  const anew = { ...NO_WINDOW, credit: 0, probe: undefined, hangsSince: undefined, refused: 0 }
  return { ...state, ...anew, pauseMs, probeAt }
}

/** Once open, it is open until a probe succeeds. */
function triedAfter(state: GateState, limits: GateLimits, { now, tookMs }: EndedRequest): number {
  return phaseOf(state, limits, now) === 'open' ? now : Math.max(state.triedAt ?? 0, now - tookMs)
}

function isProbe(state: GateState, { probe }: EndedRequest): boolean {
  return probe !== undefined && probe === state.probe
}
