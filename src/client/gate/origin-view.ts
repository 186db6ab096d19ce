import { type Asking, hasRoom, heldUntil, isFull, keptUntil, nextProbeAt, stateNow } from './ask.ts'
import { A_TOKEN } from './bucket.ts'
import { type GateLimits, TUNING } from './gate-limits.ts'
import { type GatePhase, type GateState, isUnwell, newGateState, phaseOf } from './gate-state.ts'
import { standStill } from './pace.ts'
import { type Traffic, TrafficCount } from './traffic.ts'
import { type Departure, ORDER, type WaitingLine } from './waiting-line.ts'

/** What the gate of an origin does now, and why. Times are epoch milliseconds. */
export interface OriginView {
  /** `failing`: one request at a time finds out. `open`: so does the circuit breaker's probe, and calls end at once. */
  readonly state: GatePhase
  /** Requests that wait to be sent. */
  readonly waiting: number
  /** Requests that were sent and have not ended. */
  readonly inFlight: number
  /** Of the retry budget, with fractions; infinite if there is no budget. */
  readonly tokens: number
  /** When the next request goes, if that is a matter of time. Undefined: at once, or as soon as another one has ended. */
  readonly nextAttemptAt: number | undefined
  /** Undefined: none yet, as far as this client knows. */
  readonly lastSuccessAt: number | undefined
  /** What holds requests back, in a sentence. Undefined: nothing does. */
  readonly reason: string | undefined
}

/** What is on its way to an origin, and what waits. */
export interface Queue extends Traffic {
  readonly line: Pick<WaitingLine, 'length' | 'next'>
}

/** What holds a request back, in a few words, and until when; `Infinity`: until another one has ended. */
export interface Hold {
  readonly by: string
  readonly until: number
}

export function viewOrigin(before: GateState, limits: GateLimits, queue: Queue): OriginView {
  const { now, inFlight, line } = queue
  const state = stateNow(before, limits, queue)
  const hold = holdOf(state, limits, queue)
  const isTimed = hold && hold.until > now && hold.until < Number.POSITIVE_INFINITY
  const nextAttemptAt = isTimed ? hold.until : undefined
  return {
    state: phaseOf(state, limits, now),
    waiting: line.length,
    inFlight,
    tokens: limits.budget ? state.tokens : Number.POSITIVE_INFINITY,
    nextAttemptAt,
    lastSuccessAt: state.succeededAt || undefined,
    reason: hold && sentenceOf(hold.by, line.length, nextAttemptAt && nextAttemptAt - now),
  }
}

/** An origin to which nothing was sent here. */
export function viewOfUnused(state: GateState | undefined, limits: GateLimits, now: number): OriginView {
  return viewOrigin(state ?? newGateState(limits, now), limits, idleQueue(now))
}

function idleQueue(now: number): Queue {
  return { ...new TrafficCount().at(now), line: { length: 0, next: () => undefined } }
}

function sentenceOf(by: string, waiting: number, leftMs: number | undefined): string {
  const wait = waiting > 0 ? `; ${waiting} wait${waiting === 1 ? 's' : ''}` : ''
  return by + wait + (leftMs === undefined ? '' : `; next request in ${Math.ceil(leftMs / 100) / 10} s`)
}

/**
 * Of the requests that wait, calls before others. If none does: of a call that would come now, and then of the operations
 * without a caller, which wait in the journal.
 */
function holdOf(state: GateState, limits: GateLimits, queue: Queue): Hold | undefined {
  const first = ORDER.map((kind) => queue.line.next(kind, state)).find((ticket) => ticket !== undefined)
  if (first) return holdOn(first, state, { limits, queue })
  const onCall = holdOn({ kind: 'call' }, state, { limits, queue })
  if (onCall || !isUnwell(state, limits.budget)) return onCall
  const until = keptUntil(state, limits, queue)
  return until === undefined ? undefined : { by: lackOf('kept', state, queue.now), until }
}

function holdOn(
  { kind, spreadUntil }: Pick<Departure, 'kind' | 'spreadUntil'>,
  state: GateState,
  { limits, queue }: { readonly limits: GateLimits; readonly queue: Queue },
): Hold | undefined {
  const { now } = queue
  const asking: Asking = { ...queue, kind, spreadUntil }
  const fullBy = isFull(state, limits, asking) ? whyFull(state, limits, asking) : undefined
  const heldAt = fullBy ? Number.POSITIVE_INFINITY : heldUntil(state, limits, asking)
  const until = Math.max(nextProbeAt(state, limits, now), state.nextAt, heldAt)
  const phase = phaseOf(state, limits, now)
  if (phase !== 'healthy') return { by: troubleOf(state, phase, queue), until }
  if (until <= now) return undefined
  return { by: fullBy ?? (state.nextAt < heldAt ? lackOf(kind, state, now) : spacingOf(state, limits, now)), until }
}

function troubleOf({ failedAt }: GateState, phase: GatePhase, { unanswered: { count, since } }: Traffic): string {
  if (failedAt !== undefined) return `${phase === 'open' ? 'breaker open, ' : ''}failing since ${timeText(failedAt)}`
  return count > 0 ? `no answer since ${timeText(since)}` : 'failing'
}

const BY_LIMITS = 'as many as `limits` allows'

function whyFull({ window = 1 }: GateState, limits: GateLimits, asking: Asking): string {
  if (!hasRoom({ ...limits, connections: undefined }, asking)) return BY_LIMITS
  if (!hasRoom(limits, asking)) return 'all connections of the page are in use'
  if (asking.kind === 'kept' && asking.kept >= TUNING.mostKept) return `${asking.kept} kept operations are in flight`
  return `${Math.floor(window)} at once after a failure`
}

/** Why two requests do not follow each other at once. */
function spacingOf({ nextAt, spaceMs, spacedUntil }: GateState, { perSecond }: GateLimits, now: number): string {
  const ownMs = perSecond === undefined ? 0 : 1000 / perSecond
  const quotaMs = now < spacedUntil ? spaceMs : 0
  if (nextAt - now > Math.max(ownMs, quotaMs)) return 'the server asks to wait (Retry-After)'
  return quotaMs > ownMs ? "the server's quota is nearly used up" : BY_LIMITS
}

/** A journal may hold any number, and not every number is a time. */
function timeText(at: number): string {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? '?' : time.toISOString().replace(/\.\d+/, '')
}

function lackOf(kind: Departure['kind'], state: GateState, now: number): string {
  if (kind !== 'kept') return state.tokens < A_TOKEN ? 'no token for a retry' : 'a retry waits until a blip may be over'
  return standStill(state, now) ? 'pause between kept operations' : 'no token for a kept operation'
}
