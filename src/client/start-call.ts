import { NotSentError } from '../errors/classes.ts'
import type { Digest } from '../foundation/digest.ts'
import { newOperationKey } from '../foundation/identity.ts'
import { isSafeMethod } from '../protocol/methods.ts'
import { answerOf } from './answer.ts'
import type { CallContext } from './call-context.ts'
import { EarlyExit } from './engine/early-exit.ts'
import type { EngineContext } from './engine/engine-context.ts'
import type { LiveOperation } from './engine/live-operation.ts'
import { type Submission, submit } from './engine/submit.ts'
import type { DurabilityLevel } from './journal/port.ts'
import type { HandleSource } from './operation-handle.ts'
import type { CallOptions } from './options.ts'
import { resolveCall } from './policy/resolve-options.ts'
import { type BodySnapshot, snapshotBody } from './request-body.ts'
import { readRequest } from './request-input.ts'

/** What was called. */
export interface Target {
  readonly method: string
  readonly url: string | URL
  readonly redirect: 'follow' | 'error' | 'manual'
  /** The body where it has to be read from somewhere else than the options. */
  readonly body?: Promise<BodySnapshot> | undefined
}

export interface CallSettings {
  readonly engine: EngineContext
  readonly digest: Digest
  readonly context: CallContext
  readonly reservations: KeyReservations
  readonly closed: () => boolean
}

/** Keys of calls with an id that have not become operations yet, so that two of them in one tick share a key. */
export class KeyReservations {
  readonly #keys = new Map<string, { readonly key: string; users: number }>()

  take(id: string, key: () => string): string {
    const reserved = this.#keys.get(id) ?? { key: key(), users: 0 }
    reserved.users++
    this.#keys.set(id, reserved)
    return reserved.key
  }

  release(id: string): void {
    const reserved = this.#keys.get(id)
    if (reserved && --reserved.users === 0) this.#keys.delete(id)
  }
}

/** From a call to its operation. Wrong options throw here, synchronously; everything else rejects the handle. */
export function startCall(settings: CallSettings, target: Target, options: CallOptions): HandleSource {
  const { engine, reservations } = settings
  const call = resolveCall(options, engine.options)
  const input = readRequest(target, options, {
    baseUrl: engine.options.baseUrl,
    keyHeaderName: engine.options.keyHeader.name.toLowerCase(),
  })
  const durable = options.durable ?? !isSafeMethod(input.method)
  const { id } = options
  const ownKey = input.key
  const freshKey = (): string => engine.live.find(id)?.record.key ?? ownKey ?? newOperationKey()
  const key = id === undefined ? (ownKey ?? newOperationKey()) : reservations.take(id, freshKey)
  const now = engine.clock.now()
  const deadlineAt = Math.min(now + call.deadlineMs, settings.context.deadlineAt ?? Number.POSITIVE_INFINITY)
  const keyed = durable || ownKey !== undefined
  // At most once, on purpose: without a key and a journal, a POST that may have arrived must not be sent again.
  const atMostOnce = !keyed && (input.method === 'POST' || input.method === 'PATCH')
  const submission: Submission = {
    input,
    body: snapshot(target, options, engine.options.maxBodyBytes),
    options,
    call,
    key,
    keyed,
    durable,
    deadlineAt,
    singleAttempt: atMostOnce || settings.context.doNotRetry === true,
    redirect: target.redirect,
    digest: settings.digest,
    exit: new EarlyExit(),
  }
  const source = begin(settings, submission)
  if (id !== undefined) void source.answer.catch(() => {}).finally(() => reservations.release(id))
  return source
}

/** A body that can't be taken rejects the call; it does not throw at the caller. */
function snapshot(target: Target, options: CallOptions, limit: number): BodySnapshot | Promise<BodySnapshot> {
  if (target.body) return target.body
  try {
    return snapshotBody(options, limit)
  } catch (error) {
    const failed = Promise.reject(error)
    failed.catch(() => {})
    return failed
  }
}

function begin({ engine, closed }: CallSettings, submission: Submission): HandleSource {
  let operation: LiveOperation | undefined
  let accept!: (level: DurabilityLevel) => void
  let refuse!: (error: unknown) => void
  const accepted = new Promise<DurabilityLevel>((resolve, reject) => {
    accept = resolve
    refuse = reject
  })
  const progress = {
    accepted: accept,
    joined: (joined: LiveOperation) => {
      operation = joined
      if (submission.exit.taken) joined.stop({ because: 'cancelled' })
    },
  }
  const finish = closed() ? Promise.reject(closedError()) : submit(engine, submission, progress)
  const answer = finish.then(answerOf)
  // Where nothing could be accepted, whoever waits for acceptance is told why.
  answer.catch(refuse)
  return {
    key: () => operation?.record.key ?? submission.key,
    id: submission.options.id,
    accepted,
    answer,
    cancel: async () => {
      if (!operation) submission.exit.take()
      operation?.stop({ because: 'cancelled' })
      await answer.catch(() => {})
    },
  }
}

export function closedError(): NotSentError {
  return new NotSentError('This client is closed; nothing was sent', { code: 'HOLDFAST_CLOSED', reason: 'aborted' })
}
