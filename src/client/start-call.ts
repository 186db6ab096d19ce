import { ConfigurationError } from '../errors/classes.ts'
import type { Digest } from '../foundation/digest.ts'
import { newOperationKey } from '../foundation/identity.ts'
import { answerOf } from './answer.ts'
import type { CallContext } from './call-context.ts'
import type { Counter } from './engine/counter.ts'
import { EarlyExit } from './engine/early-exit.ts'
import type { EngineContext } from './engine/engine-context.ts'
import type { LiveOperation } from './engine/live-operation.ts'
import { cancelLive } from './engine/stored-operations.ts'
import { type Submission, submit } from './engine/submit.ts'
import { toldOf } from './engine/told-of.ts'
import type { FetchCall } from './fetch-call.ts'
import type { DurabilityLevel } from './journal/port.ts'
import type { HandleSource } from './operation-handle.ts'
import type { CallOptions } from './options.ts'
import { resolveCall, resolveDurable, resolveHonoursKeys } from './policy/resolve-call.ts'
import { type BodySnapshot, snapshotBody, unreadable } from './request-body.ts'
import { readRequest } from './request-input.ts'
import type { DropIn } from './transport/port.ts'

/** What was called. */
export interface Target {
  readonly method: string
  readonly url: string | URL
  readonly redirect: 'follow' | 'error' | 'manual'
}

export interface CallSettings {
  readonly engine: EngineContext
  readonly digest: Digest
  readonly context: CallContext
  readonly reservations: KeyReservations
  /** Aborts when the client closes. */
  readonly closing: AbortSignal
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

/** From a call of `client.fetch` to its operation. */
export function startFetch(settings: CallSettings, call: FetchCall): HandleSource {
  const { engine, context } = settings
  const { method, url, redirect, headers, signal, ownKey, journaled } = call
  const dropIn: DropIn = context.deadlineAt === undefined ? call.dropIn : { ...call.dropIn, endedBy: 'attempt' }
  const options = { headers, signal }
  const input = readRequest({ method, url }, options, {
    baseUrl: undefined,
    keyHeaderName: ownKey === undefined ? undefined : keyHeaderOf(engine),
    credentialsMode: call.credentialsMode,
  })
  return startInput(settings, {
    input,
    options,
    redirect,
    dropIn,
    call: engine.options.dropInCall,
    body: { bytes: call.bytes, contentType: undefined },
    durable: journaled,
    keyed: dropIn.keyed,
    honoursKeys: call.honoursKeys,
  })
}

function keyHeaderOf({ options }: EngineContext): string {
  return options.keyHeader.name.toLowerCase()
}

/** From a call to its operation. Wrong options throw here, synchronously; everything else rejects the handle. */
export function startCall(settings: CallSettings, target: Target, options: CallOptions): HandleSource {
  const { engine } = settings
  const call = resolveCall(options, engine.options)
  const input = readRequest(target, options, {
    baseUrl: engine.options.baseUrl,
    keyHeaderName: keyHeaderOf(engine),
    credentialsMode: engine.options.credentials,
  })
  refuseBodyOf(input.method, options)
  const durable = resolveDurable(input.method, options, engine.options.durable)
  const body = snapshot(options, engine.options.maxBodyBytes)
  // Nobody may be listening yet when it fails.
  if (body instanceof Promise) body.catch(() => {})
  const keyed = durable || input.key !== undefined
  const honoursKeys = resolveHonoursKeys(engine.options.honoursKeys, input.credentials.url) ?? true
  const { redirect } = target
  return startInput(settings, { input, options, redirect, dropIn: undefined, call, body, durable, keyed, honoursKeys })
}

type Start = Pick<
  Submission,
  'input' | 'body' | 'options' | 'call' | 'keyed' | 'honoursKeys' | 'durable' | 'redirect' | 'dropIn'
>

function startInput(settings: CallSettings, start: Start): HandleSource {
  const { engine, reservations, context } = settings
  const { input, options, call, keyed, durable } = start
  const { id } = options
  const ownKey = input.key
  const freshKey = (): string => ownKey ?? newOperationKey()
  const key =
    id === undefined ? freshKey() : reservations.take(id, () => engine.live.byId(id)?.record.key ?? freshKey())
  const now = engine.clock.now()
  const deadlineAt = Math.min(now + call.deadlineMs, context.deadlineAt ?? Number.POSITIVE_INFINITY)
  // At most once, on purpose: without a key and a journal, a POST that may have arrived must not be sent again.
  const atMostOnce = !keyed && !start.dropIn && (input.method === 'POST' || input.method === 'PATCH')
  // Every member by its name: a spread before them costs more than all the rest of this function.
  const submission: Submission = {
    input,
    body: start.body,
    options: fixed(options),
    call,
    key,
    freshKey,
    keyed,
    honoursKeys: start.honoursKeys,
    durable,
    redirect: start.redirect,
    dropIn: start.dropIn,
    named: durable && (id !== undefined || ownKey !== undefined),
    deadlineAt,
    singleAttempt: context.doNotRetry === true ? 'outer-retries' : atMostOnce ? 'at-most-once' : undefined,
    digest: settings.digest,
    exit: new EarlyExit(),
    closing: settings.closing,
    forgotten: sinceNow(engine.forgets),
  }
  const source = begin(engine, submission)
  if (id !== undefined) void source.answer.catch(() => {}).finally(() => reservations.release(id))
  return source
}

/** Has it moved on since now? */
function sinceNow(counter: Counter): () => boolean {
  const before = counter.count
  return () => counter.count !== before
}

/** Metadata as it is now: changing it later changes nothing. */
function fixed(options: CallOptions): CallOptions {
  const { metadata } = options
  return typeof metadata === 'object' && metadata !== null
    ? { ...options, metadata: JSON.parse(JSON.stringify(metadata)) as typeof metadata }
    : options
}

function refuseBodyOf(method: string, { json, body }: CallOptions): void {
  if (method !== 'GET' && method !== 'HEAD') return
  if (json === undefined && (body === undefined || body === null)) return
  throw new ConfigurationError(`A ${method} request has no body; put what it asks for into searchParams`)
}

/** A body that can't be taken rejects the call; it does not throw at the caller. */
function snapshot(options: CallOptions, limit: number): BodySnapshot | Promise<BodySnapshot> {
  try {
    return snapshotBody(options, limit)
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    const failed = Promise.resolve(error).then(unreadable)
    failed.catch(() => {})
    return failed
  }
}

function begin(engine: EngineContext, submission: Submission): HandleSource {
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
  const { id, name } = submission.options
  const finish = submit(engine, submission, progress)
  // From the first moment on it is something that this client is running.
  engine.background.add(finish)
  const answer = finish.then(answerOf).catch((error: unknown) => {
    throw toldOf(error, { operation: { key: submission.key, id, name }, named: submission.named })
  })
  // Where nothing could be accepted, whoever waits for acceptance is told why.
  answer.catch(refuse)
  return {
    key: () => operation?.record.key ?? submission.key,
    id,
    accepted,
    answer,
    cancel: async () => {
      if (!operation) submission.exit.take()
      else await cancelLive(engine, operation)
      await answer.catch(() => {})
    },
  }
}
