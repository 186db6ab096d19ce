import { StorageError } from '../../errors/classes.ts'
import type { Effect, Reason } from '../../errors/reason.ts'
import { redactText } from '../../observe/redact.ts'
import { showsKeyHonoured } from '../../protocol/header-names.ts'
import { isIdempotentMethod } from '../../protocol/methods.ts'
import { tell } from '../operation/outcome.ts'
import type { OperationRecord, StoredFailure } from '../operation/record.ts'
import { countFruitlessRun, release } from '../operation/transition.ts'
import { speaksForTheWhole } from '../policy/classify.ts'
import { delayBetweenRuns } from '../policy/decide.ts'
import type { TransportResponse } from '../transport/port.ts'
import type { Stop } from './admission.ts'
import type { AttemptResult } from './attempt.ts'
import type { EngineContext } from './engine-context.ts'
import { endingOfExpired } from './expire.ts'
import { hint } from './hints.ts'
import { withoutSecrets } from './kept-record.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { reportFailure } from './report-failure.ts'
import type { RunTerms } from './run-terms.ts'
import { type Ending, settleOperation, storable } from './settle.ts'

/** What a run has seen of its attempts. */
export interface Seen {
  /** The last attempt of this run, if it made one. */
  readonly last: AttemptResult | undefined
  /** The last answer of this run; an attempt without one may have come after it. */
  readonly lastAnswer: TransportResponse | undefined
  /** What the attempts before the last one may have done. */
  readonly earlierEffect: Effect
}

export const NOTHING_SEEN: Seen = { last: undefined, lastAnswer: undefined, earlierEffect: 'none' }

/** What the end of a run needs to know. */
export interface Ended extends Seen {
  readonly engine: EngineContext
  readonly operation: LiveOperation
  readonly terms: RunTerms
}

/** The journal failed, or this library did: told with what is known of the effect. */
export function breakOff({ engine, operation, terms }: Ended, cause: unknown): Finish {
  const { durable } = terms.persistence
  if (durable) reportFailure(engine, operation, cause)
  const reason = cause instanceof StorageError ? 'storage' : undefined
  return { is: 'broken', error: tell({ record: operation.record, pending: durable, reason, cause }) }
}

/** A 2xx. */
export function succeed(ended: Ended): Promise<Finish> {
  const response = ended.last?.response
  const mayHaveRepeated = isPerhapsRepeated(ended)
  return settle(ended, { status: 'succeeded', reason: undefined, effect: 'applied', response, mayHaveRepeated })
}

/** An earlier attempt may have been done too, and nothing in the answer shows that the server knows the key. */
function isPerhapsRepeated({ operation, earlierEffect, last }: Ended): boolean {
  const { key, request } = operation.record
  if (earlierEffect === 'none' || isIdempotentMethod(request.method)) return false
  return !showsKeyHonoured(last?.response?.headers ?? [], key)
}

function settle({ engine, operation, terms }: Ended, ending: Ending): Promise<Finish> {
  return settleOperation(engine, operation, { ending, persistence: terms.persistence })
}

/** An answer, or a fault that trying again can't mend, ends it for good. */
export function refuse(ended: Ended, reason: Reason, status: 'rejected' | 'failed'): Promise<Finish> {
  const { operation, last } = ended
  const answer = last?.response
  // Where a success had arrived before, a refusal only shows that the server does not honour the key.
  const contradicted = operation.record.effect === 'applied'
  const knowsKey = operation.record.honoursKeys && reason !== 'key-reuse'
  const whole = answer !== undefined && !contradicted && knowsKey && speaksForTheWhole(answer)
  const effect = whole ? 'none' : operation.record.effect
  return settle(ended, { status, reason, effect, response: answer, cause: last?.cause, failure: failureOf(ended) })
}

/** Attempts, time, budget or breaker are used up: settled as failed, or kept where it is to be carried on. */
export async function giveUp(ended: Ended, stop: Stop): Promise<Finish> {
  const { engine, operation, terms } = ended
  if (engine.clock.now() >= operation.record.horizonAt) return expire(ended)
  if (terms.mode === 'resume' || terms.giveUp === 'keep') return keep(ended, stop)
  return settle(ended, {
    status: 'failed',
    reason: stop.reason,
    effect: operation.record.effect,
    response: ended.lastAnswer,
    cause: lastFailure(ended.last),
    failure: failureOf(ended, stop.retryAt),
  })
}

export async function expire(ended: Ended): Promise<Finish> {
  const { engine, operation } = ended
  const ending = await endingOfExpired(engine, operation.record).catch((cause: unknown) => ({ unknownBecause: cause }))
  if ('unknownBecause' in ending) return askAgainLater(ended, ending.unknownBecause)
  return settle(ended, ending)
}

/** `reconcile` could not say what became of it: it is not sent again, but asked about again. */
async function askAgainLater({ engine, operation }: Ended, error: unknown): Promise<Finish> {
  const { clock, random, events } = engine
  const now = clock.now()
  const counted = countFruitlessRun(operation.record)
  const dueAt = now + delayBetweenRuns(counted.fruitlessRuns, random)
  const record = release(counted, { dueAt, heldBy: 'horizon' })
  if (!(await letGo(engine, operation, record))) return { is: 'lost' }
  events.tellOf(record, { type: 'operation.waiting', at: now, until: dueAt, reason: 'horizon', error })
  return { is: 'kept', record, error: tell({ record, reason: 'horizon', pending: true, cause: error }) }
}

/** The caller or the client stopped it. */
export function obeyStop(ended: Ended): Promise<Finish> {
  const { operation, terms } = ended
  const order = operation.stopOrder
  if (order?.because === 'lease-lost') return Promise.resolve({ is: 'lost' })
  if (order?.because === 'closing' && terms.persistence.durable) return keep(ended, { reason: 'aborted' })
  const cause = order?.because === 'cancelled' ? order.cause : undefined
  return settle(ended, { status: 'cancelled', reason: 'aborted', effect: operation.record.effect, cause })
}

/** Lets go of the lease; the operation stays pending. */
export async function keep(ended: Ended, stop: Stop): Promise<Finish> {
  const { engine, operation, terms, last } = ended
  const { clock, random, events } = engine
  const now = clock.now()
  const tried = last !== undefined
  const before = tried && terms.mode === 'resume' ? countFruitlessRun(operation.record) : operation.record
  const delay = tried ? delayBetweenRuns(before.fruitlessRuns, random) : 0
  // At the horizon it is looked at again, however long somebody wants to wait: then it expires.
  const until = Math.min(Math.max(stop.retryAt ?? 0, now + delay), before.horizonAt)
  // When an operation gets leave is known of its origin, not of the operation: the first success may change it for all.
  const hasNoLeave = !tried && (stop.reason === 'budget' || stop.reason === 'breaker')
  const dueAt = stop.reason === 'aborted' ? 0 : hasNoLeave ? before.dueAt : until
  const record = release(before, { dueAt, heldBy: stop.reason })
  if (!(await letGo(engine, operation, record))) return { is: 'lost' }
  if (Math.max(dueAt, record.notBefore) <= now) hint(engine, 'pending', record)
  events.tellOf(record, { type: 'operation.waiting', at: now, until: dueAt === 0 ? dueAt : until, reason: stop.reason })
  const answered = ended.lastAnswer ? { ...record, response: storable(ended.lastAnswer) } : record
  const told = { record: answered, reason: stop.reason, pending: true, retryAt: stop.retryAt, cause: lastFailure(last) }
  return { is: 'kept', record, error: tell(told) }
}

/** Writes down the released record. A renewal that comes after this would find the lease gone, as it should be. */
async function letGo(engine: EngineContext, operation: LiveOperation, released: OperationRecord): Promise<boolean> {
  engine.leases.drop(operation)
  const written = await engine.keeper.commit(withoutSecrets(released), operation.fence)
  if (written) operation.record = released
  return written
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

function failureOf({ last }: Ended, retryAt?: number): StoredFailure {
  const cause = messageOf(last?.cause)
  const words = [last?.fault, cause].filter((word) => word !== undefined && word !== '')
  return { detail: words.length > 0 ? redactText(words.join(': ')) : undefined, retryAt }
}
