import { ConfigurationError } from '../errors/classes.ts'
import { Deadline } from '../foundation/deadline.ts'
import { newOperationKey } from '../foundation/identity.ts'
import type { CallContext } from './call-context.ts'
import type { Call, NewOperation, StoredOperation } from './engine/call/call.ts'
import { Caller, type HandleSource } from './engine/call/caller.ts'
import { enterNew, enterStored } from './engine/call/enter.ts'
import type { Engine } from './engine/engine.ts'
import type { FetchCall } from './fetch-call.ts'
import type { CallOptions } from './options.ts'
import { resolveCall, resolveDurable, resolveHonoursKeys } from './policy/resolve-call.ts'
import type { ResolvedCall } from './policy/resolved-options.ts'
import { type BodySnapshot, snapshotBody, unreadable } from './request-body.ts'
import { type CallCredentials, type RequestInput, readRequest } from './request-input.ts'

/** What was called. */
export interface Target {
  readonly method: string
  readonly url: string | URL
}

const NO_OPTIONS: CallOptions = {}

export interface CallSettings {
  readonly engine: Engine
  /** What an outer layer asks of the call that is just being made. */
  readonly context: CallContext
}

/** From a call of `client.fetch` to its operation. */
export function startFetch(settings: CallSettings, fetch: FetchCall): HandleSource {
  const { engine, context } = settings
  const { method, url, redirect, headers, signal, ownKey, journaled, credentialsMode, dropIn, honoursKeys } = fetch
  const options = { headers, signal }
  const keyHeaderName = ownKey === undefined ? undefined : keyHeaderOf(engine)
  const { redactor } = engine.options
  const input = readRequest({ method, url }, options, { baseUrl: undefined, keyHeaderName, credentialsMode, redactor })
  const call = callOf(settings, engine.options.dropInCall, {
    singleAttempt: undefined,
    credentials: input.credentials,
    keyed: dropIn.keyed,
    durable: journaled,
    redirect,
    dropIn: context.deadlineAt === undefined ? dropIn : { ...dropIn, endedBy: 'attempt' },
  })
  return start(engine, call, { input, options, body: { bytes: fetch.bytes, contentType: undefined }, honoursKeys })
}

function keyHeaderOf({ options }: Engine): string {
  return options.keyHeader.name.toLowerCase()
}

/** From a call to its operation. Wrong options throw here, synchronously; everything else rejects the handle. */
export function startCall(settings: CallSettings, target: Target, given: CallOptions | undefined): HandleSource {
  const { engine } = settings
  const { options: client } = engine
  const limits = resolveCall(given, client)
  const options = given ?? NO_OPTIONS
  const input = readCallRequest(engine, target, options)
  const { method, credentials } = input
  const durable = resolveDurable(method, options, client.durable)
  const body = hasBody(options) ? bodyOf(method, options, client.maxBodyBytes) : NO_BODY
  const keyed = durable || input.key !== undefined
  const call = callOf(settings, limits, {
    // Without a key and a journal, a POST that may have arrived must not be sent again: at most once, on purpose.
    singleAttempt: !keyed && (method === 'POST' || method === 'PATCH') ? 'at-most-once' : undefined,
    credentials,
    keyed,
    durable,
    redirect: 'follow',
    dropIn: undefined,
  })
  const honoursKeys = !keyed || (resolveHonoursKeys(client.honoursKeys, { url: credentials.url, method }) ?? true)
  return start(engine, call, { input, options, body, honoursKeys })
}

/** What is sent, from the options of a call. */
export function readCallRequest(engine: Engine, target: Target, options: CallOptions): RequestInput {
  const { baseUrl, credentials: credentialsMode, redactor } = engine.options
  return readRequest(target, options, { baseUrl, keyHeaderName: keyHeaderOf(engine), credentialsMode, redactor })
}

/** For whom an operation of the journal is taken up again. */
export interface RetryTerms extends StoredOperation {
  readonly limits: ResolvedCall
  readonly signal: AbortSignal | undefined
  readonly credentials: CallCredentials | undefined
}

/** From a key or id to the operation that the journal has under it. */
export function startRetry(settings: CallSettings, retry: RetryTerms): HandleSource {
  const { engine } = settings
  const { keyOrId, signal } = retry
  const call = callOf(settings, retry.limits, {
    singleAttempt: undefined,
    credentials: retry.credentials,
    keyed: true,
    durable: true,
    redirect: 'follow',
    dropIn: undefined,
  })
  const unrecorded = { method: 'retry', origin: JSON.stringify(keyOrId), operation: { key: keyOrId }, named: true }
  return new Caller(engine, { call, signal, unrecorded }).start((caller) => enterStored(engine, caller, retry))
}

function callOf(
  { engine: { clock }, context }: CallSettings,
  limits: ResolvedCall,
  parts: Pick<Call, 'singleAttempt' | 'credentials' | 'keyed' | 'durable' | 'redirect' | 'dropIn'>,
): Call {
  return {
    mode: 'call',
    limits,
    deadline: new Deadline(
      clock,
      Math.min(limits.deadlineMs, (context.deadlineAt ?? Number.POSITIVE_INFINITY) - clock.now()),
    ),
    singleAttempt: context.doNotRetry === true ? 'outer-retries' : parts.singleAttempt,
    credentials: parts.credentials,
    keyed: parts.keyed,
    durable: parts.durable,
    redirect: parts.redirect,
    dropIn: parts.dropIn,
    onGiveUp: parts.durable ? limits.onGiveUp : 'fail',
    trace: undefined,
  }
}

interface NewCall extends Pick<NewOperation, 'input' | 'body' | 'honoursKeys'> {
  readonly options: CallOptions
}

function start(engine: Engine, call: Call, { input, options, body, honoursKeys }: NewCall): HandleSource {
  const { id, name, metadata, lane, laneOnFailure, signal } = options
  const newKey = (): string => input.key ?? newOperationKey()
  const reserved = id === undefined ? newKey() : engine.live.reserveKey(id, newKey)
  // A caller's own key is what the caller will ask for later, whoever else uses the id.
  const key = input.key ?? reserved
  const named = call.durable && (id !== undefined || input.key !== undefined)
  const unrecorded = { method: input.method, origin: input.origin, operation: { key, id, name }, named }
  const kept = { id, name, metadata: metadata === undefined ? metadata : fixed(metadata), lane, laneOnFailure }
  const source = new Caller(engine, { call, signal, unrecorded }).start((caller) => {
    const session = engine.options.session && engine.session.current()
    return enterNew(engine, caller, { input, body, options: kept, key, newKey, honoursKeys, session })
  })
  if (id !== undefined) {
    const release = (): void => engine.live.releaseKey(id)
    source.answer.then(release, release)
  }
  return source
}

/** Metadata as it is now: changing it later changes nothing. */
function fixed(metadata: CallOptions['metadata']): CallOptions['metadata'] {
  return typeof metadata === 'object' && metadata !== null ? JSON.parse(JSON.stringify(metadata)) : metadata
}

const NO_BODY: BodySnapshot = { bytes: null, contentType: undefined }

function hasBody({ json, body }: CallOptions): boolean {
  return json !== undefined || (body !== undefined && body !== null)
}

/** A body that can't be taken rejects the call; it does not throw at the caller. */
function bodyOf(method: string, options: CallOptions, limit: number): BodySnapshot | Promise<BodySnapshot> {
  if (method === 'GET' || method === 'HEAD') {
    throw new ConfigurationError(`A ${method} request has no body; put what it asks for into searchParams`)
  }
  try {
    const body = snapshotBody(options, limit)
    // It may fail before the call waits for it.
    if (body instanceof Promise) body.catch(() => {})
    return body
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    const failed = Promise.resolve(error).then(unreadable)
    failed.catch(() => {})
    return failed
  }
}
