import { StorageError } from '../../../errors/classes.ts'
import type { Effect, Reason } from '../../../errors/reason.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import type { Redactor } from '../../../observe/redact.ts'
import { isIdempotentMethod } from '../../../protocol/methods.ts'
import { operationError } from '../../operation/outcome.ts'
import { type OperationRecord, SETTLED_STATUSES, type StoredFailure } from '../../operation/record.ts'
import { carryOn, countFruitlessRun, release } from '../../operation/transition.ts'
import { viewOf } from '../../operation/view.ts'
import { delayBetweenRuns } from '../../policy/decide.ts'
import { clearsEarlierAttempts, showsKeyKnown } from '../../policy/evidence.ts'
import type { TransportResponse } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { AttemptResult } from './judge.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { type Ending, settleOperation, storable } from './settle.ts'
import type { Stop } from './stop.ts'

/** What the end of a run needs to know. */
export interface RunState {
  readonly engine: Engine
  readonly operation: LiveOperation
  readonly call: Call
  /** The last attempt of this run, if it made one. */
  readonly last: AttemptResult | undefined
  /** The last answer of this run; an attempt without one may have come after it. */
  readonly lastAnswer: TransportResponse | undefined
  /** What the attempts before the last one may have done. */
  readonly earlierEffect: Effect
}

type Ended = Finish | Promise<Finish>

/** The journal failed, or this library did: the error has what is known of the effect. */
export function breakOff({ engine, operation, call }: RunState, cause: unknown): Finish {
  const { record } = operation
  if (call.durable) engine.upkeep.reportFailure(record.key, cause)
  const reason = cause instanceof StorageError ? 'storage' : undefined
  return { is: 'broken', error: operationError({ record, pending: call.durable, reason, cause }) }
}

/** Another runner has it now. */
export function loseLease({ engine, operation }: RunState): Finish {
  engine.leases.lose(operation)
  return { is: 'lost' }
}

/** A 2xx. */
export function succeed(run: RunState): Ended {
  const response = run.last?.response
  const mayHaveRepeated = isPerhapsRepeated(run)
  return settle(run, { status: 'succeeded', reason: undefined, effect: 'applied', response, mayHaveRepeated })
}

/** An earlier attempt or try may have been done too, and nothing in the answer shows that the server knows the key. */
function isPerhapsRepeated({ operation, last, earlierEffect }: RunState): boolean {
  const { key, request } = operation.record
  const answer = last?.facts.is === 'answer' ? last.facts : undefined
  if (isIdempotentMethod(request.method) || (earlierEffect === 'none' && !answer?.mayBeRepeat)) return false
  return !answer || !showsKeyKnown(answer, key)
}

function settle({ engine, operation, call }: RunState, ending: Ending): Ended {
  return settleOperation(engine, operation, { ending, durable: call.durable, mode: call.mode })
}

/** An answer, or a fault that trying again can't mend, ends it for good. */
export function refuse(run: RunState, reason: Reason, status: 'rejected' | 'failed'): Ended {
  const { last } = run
  const effect = effectOfRefusal(run, reason)
  return settle(run, { status, reason, effect, response: last?.response, cause: last?.cause, failure: failureOf(run) })
}

/** What is on record, unless the answer proves that no attempt was done. */
function effectOfRefusal({ engine, operation, call, last }: RunState, reason: Reason): Effect {
  const { key, effect, honoursKeys, acceptedAt } = operation.record
  // If a success had arrived before, a refusal only shows that the server does not honour the key.
  if (effect === 'applied' || !(call.keyed && honoursKeys) || reason === 'key-reuse') return effect
  const asked = { key, ageMs: engine.clock.now() - acceptedAt }
  return last?.facts.is === 'answer' && clearsEarlierAttempts(last.facts, asked) ? 'none' : effect
}

/** Attempts, time, budget or breaker are used up: settled as failed, or kept where it is to be carried on. */
export function giveUp(run: RunState, stop: Stop): Ended {
  const { engine, operation, call } = run
  if (engine.clock.now() >= operation.record.horizonAt) return expire(run)
  // Of a call that only asked for it, the call gives up, and not the operation.
  if (operation.record.carriedOn || call.onGiveUp === 'keep') return keep(run, stop)
  return settle(run, {
    status: 'failed',
    reason: stop.reason,
    effect: operation.record.effect,
    response: run.lastAnswer,
    cause: lastFailure(run.last),
    failure: failureOf(run, stop.retryAt),
  })
}

/** Past its horizon it is never sent again. The caller's `reconcile` may know what became of it. */
async function expire(run: RunState): Promise<Finish> {
  const { engine, operation } = run
  let ending: Ending
  try {
    ending = await reconcile(engine, operation.record)
  } catch (error) {
    return askAgainLater(run, error)
  }
  return settle(run, ending)
}

async function reconcile({ options, clock }: Engine, record: OperationRecord): Promise<Ending> {
  const expired: Ending = { status: 'expired', reason: 'horizon', effect: record.effect }
  if (!options.reconcile) return expired
  const asked = (async () => options.reconcile?.(viewOf(record, clock.now())))()
  const late = (): never => {
    throw new Error('reconcile did not answer within the deadline')
  }
  const known = await waitAtMost(clock, asked, { ms: options.deadlineMs, late })
  if (!known) return expired
  if (!SETTLED_STATUSES.includes(known.status)) throw new Error(`reconcile answered the status ${String(known.status)}`)
  const effect = known.effect ?? (known.status === 'succeeded' ? 'applied' : record.effect)
  const response = known.response && (await plainAnswer(known.response, options.redactor))
  return { status: known.status, reason: 'horizon', effect, response }
}

async function plainAnswer(response: Response, redactor: Redactor): Promise<TransportResponse> {
  const { status, statusText, redirected } = response
  const body = new Uint8Array(await response.arrayBuffer())
  const url = redactor.url(response.url)
  return { kind: 'response', status, statusText, headers: [...response.headers], body, url, redirected }
}

/** `reconcile` could not say what became of it: it is not sent again, but asked about again. */
async function askAgainLater({ engine, operation }: RunState, error: unknown): Promise<Finish> {
  const now = engine.clock.now()
  const counted = countFruitlessRun(carryOn(operation.record))
  const dueAt = now + delayBetweenRuns(counted.fruitlessRuns, engine.random)
  const record = release(counted, { dueAt, heldBy: 'horizon' })
  if (!(await releaseLease(engine, operation, record))) return { is: 'lost' }
  engine.events?.emitFor(record, { type: 'operation.waiting', at: now, until: dueAt, reason: 'horizon', error })
  return { is: 'kept', record, error: operationError({ record, reason: 'horizon', pending: true, cause: error }) }
}

const ABORTED: Stop = { reason: 'aborted' }

/** The caller or the client stopped it. */
export function obeyStop(run: RunState): Ended {
  const { operation, call } = run
  const order = operation.stopOrder
  if (order?.because === 'lease-lost') return { is: 'lost' }
  if (order?.because === 'closing' && call.durable) return keep(run, ABORTED)
  const isLeft = order?.because === 'abandoned'
  if (isLeft && operation.goesOnWithoutCallers) return keep(run, ABORTED)
  const cause = isLeft ? order.cause : undefined
  const { effect } = operation.record
  return settle(run, { status: 'cancelled', reason: 'aborted', effect, cause, abandoned: isLeft || undefined })
}

/** Releases the lease; the operation stays pending, and whoever waits for it is told so. */
export async function keep(run: RunState, stop: Stop): Promise<Finish> {
  const { engine, operation, call, last, lastAnswer } = run
  const { clock, random, events, coordination } = engine
  const now = clock.now()
  const tried = last !== undefined
  const carried = carryOn(operation.record)
  const before = tried && call.mode === 'resume' ? countFruitlessRun(carried) : carried
  const delay = tried ? delayBetweenRuns(before.fruitlessRuns, random) : 0
  // At the horizon it is looked at again, however long the server asked to wait: then it expires.
  const until = Math.min(Math.max(stop.retryAt ?? 0, now + delay), before.horizonAt)
  // When an operation is admitted is known of its origin, not of the operation: the first success may change it for all.
  const isNotAdmitted = !tried && (stop.reason === 'budget' || stop.reason === 'breaker')
  const dueAt = stop.reason === 'aborted' ? 0 : isNotAdmitted ? before.dueAt : until
  const record = release(before, { dueAt, heldBy: stop.reason })
  if (!(await releaseLease(engine, operation, record))) return { is: 'lost' }
  const { namespace, key } = record
  if (Math.max(dueAt, record.notBefore) <= now) coordination.notifyPeers?.({ is: 'pending', namespace, key })
  events?.emitFor(record, { type: 'operation.waiting', at: now, until: dueAt && until, reason: stop.reason })
  const answered = lastAnswer ? { ...record, response: storable(lastAnswer) } : record
  const { reason, retryAt } = stop
  const error = operationError({ record: answered, reason, pending: true, retryAt, cause: lastFailure(last) })
  return { is: 'kept', record, error }
}

/** Writes the released record. A renewal that comes after this would find the lease gone, as it should be. */
async function releaseLease(engine: Engine, operation: LiveOperation, released: OperationRecord): Promise<boolean> {
  engine.leases.drop(operation)
  const isWritten = await engine.keeper.commit(released, operation.fence)
  if (isWritten) operation.record = released
  return isWritten
}

/** The last real failure, for `cause`: an error even where the server answered. */
function lastFailure(last: AttemptResult | undefined): unknown {
  if (!last) return undefined
  if (last.cause !== undefined) return last.cause
  return new Error(last.facts.is === 'answer' ? `The server answered ${last.facts.status}` : `No answer: ${last.fault}`)
}

/** A fetch wraps what happened into an error that only says that it failed. */
function messageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return error.message === 'fetch failed' && error.cause instanceof Error ? error.cause.message : error.message
}

function failureOf({ last, engine }: RunState, retryAt?: number): StoredFailure {
  // Each by itself: a code with a colon behind it reads like the name of a credential.
  const shown = [last?.fault, messageOf(last?.cause)].flatMap((word) =>
    word ? [engine.options.redactor.text(word)] : [],
  )
  return { detail: shown.length > 0 ? shown.join(': ') : undefined, retryAt }
}
