import { parseKey } from '../protocol/idempotency-key.ts'
import { isSafeMethod } from '../protocol/methods.ts'
import { type BodyNeed, type FetchBody, holdBody, isBodyStream } from './fetch-body.ts'
import type { CredentialsMode } from './operation/record.ts'
import { resolveHonoursKeys } from './policy/resolve-call.ts'
import type { ResolvedOptions } from './policy/resolved-options.ts'
import { unjournalable } from './request-body.ts'
import { joinToBase } from './request-input.ts'
import type { DropIn, FetchArguments } from './transport/port.ts'

/** A call of `client.fetch`, understood. */
export interface FetchCall {
  readonly method: string
  /** The whole URL. */
  readonly url: string
  /** Those of the caller, and the content type of a body that is held in memory. */
  readonly headers: Headers
  readonly redirect: Request['redirect']
  readonly credentialsMode: CredentialsMode | undefined
  readonly signal: AbortSignal | undefined
  readonly ownKey: string | undefined
  /** Does the server do the work of a key once? */
  readonly honoursKeys: boolean
  readonly journaled: boolean
  /** What the journal takes as its body. */
  readonly bytes: Uint8Array | null
  readonly dropIn: DropIn
}

/** What a call means, or undefined where it is left to the platform's fetch alone. */
export function readFetchCall(
  args: readonly [input: unknown, init?: unknown],
  options: ResolvedOptions,
): FetchCall | Promise<FetchCall> | undefined {
  if (!areReadable(args)) return undefined
  const input = addressOf(args[0], options)
  const init = membersOf(args[1])
  const signal = (init.signal === undefined && input instanceof Request ? input.signal : init.signal) ?? undefined
  // The platform rejects, and cancels a body that is a stream.
  if (!isHttp(input) || signal?.aborted) return undefined
  const request = understood(input, init)
  const key = keyOf(request, options)
  const need = needOf(key, options)
  const asked: Asked = { input, init, request, signal, options, need, key }
  const body = holdBody({ request, body: init.body ?? undefined, signal, limit: options.maxBodyBytes }, need)
  return body instanceof Promise ? body.then((read) => toCall(asked, read)) : toCall(asked, body)
}

type Input = FetchArguments['input']
type Arguments = readonly [input: Input, init?: RequestInit | null]

/** False for a Request of another library, and for what the platform's fetch refuses. */
function areReadable(args: readonly unknown[]): args is Arguments {
  const [input, init] = args
  if (args.length === 0 || (typeof init !== 'object' && init !== undefined)) return false
  return typeof input !== 'object' || input === null || input instanceof Request || !('url' in input)
}

interface Key {
  readonly ownKey: string | undefined
  readonly keyed: boolean
  readonly honoursKeys: boolean
}

interface Asked {
  readonly key: Key
  readonly input: Input
  readonly init: RequestInit
  readonly request: Request
  readonly signal: AbortSignal | undefined
  readonly options: ResolvedOptions
  readonly need: BodyNeed
}

function toCall(asked: Asked, body: FetchBody): FetchCall {
  const { input, init, request, signal, options } = asked
  const { ownKey, keyed, honoursKeys } = asked.key
  const journaled = keyed && body.bytes !== undefined && isJournaling(options)
  // With the client option `durable: true`, a request that can't be journaled is not sent.
  if (options.durable === true && !journaled) throw unjournalable(options.maxBodyBytes)
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
  const { deadlineMs, attemptTimeoutMs } = options.dropInCall
  const isLimited = Number.isFinite(Math.min(deadlineMs, attemptTimeoutMs))
  const { arguments: given, isRepeatable, isOnce } = argumentsOf(asked, body)
  return {
    method: request.method,
    url: request.url,
    headers: body.given === undefined ? headers : withBodyType(headers, request),
    redirect: request.redirect,
    credentialsMode: init.credentials ?? (input instanceof Request ? input.credentials : options.credentials),
    signal,
    ownKey,
    honoursKeys,
    journaled,
    bytes: body.bytes ?? null,
    dropIn: {
      arguments: given,
      isRepeatable,
      isOnce,
      headers,
      signal,
      endedBy: journaled || isLimited ? 'attempt' : 'caller',
      keyed,
    },
  }
}

/** The platform derives the type from the kind of a body, which bytes in memory no longer have. */
function withBodyType(own: Headers, request: Request): Headers {
  const type = request.headers.get('content-type')
  if (type === null || own.has('content-type')) return own
  const headers = new Headers(own)
  headers.set('content-type', type)
  return headers
}

/** What each attempt gives to the platform's fetch: the first as much as possible what the caller gave. */
function argumentsOf(
  asked: Asked,
  { given, again, isOnce }: FetchBody,
): Pick<DropIn, 'arguments' | 'isRepeatable' | 'isOnce'> {
  const { input, init } = carried(asked)
  const withBody = (body: BodyInit | null | undefined): FetchArguments =>
    body === undefined || body === null ? { input, init } : { input, init: { ...init, body: copiedBody(body) } }
  let next = (): FetchArguments => withBody(given)
  return {
    isOnce,
    isRepeatable: () => again() !== undefined,
    arguments: () => {
      const args = next()
      next = () => withBody(again())
      return args
    },
  }
}

/** A fetch may transfer or change the bytes that it is given; the next attempt and the record need them as they were. */
function copiedBody(body: BodyInit): BodyInit {
  return body instanceof Uint8Array ? body.slice() : body
}

/** With the body that the platform's own reading of it has taken over, and what the client says of cookies. */
function carried({ input, init, request, options, need }: Asked): FetchArguments {
  const isRead = isBodyStream(init.body) && need === 'journal'
  const taken = request.body !== null && (init.body === undefined || init.body === null || isRead)
  const more = input instanceof Request ? keptMembers(input, init) : modeOf(options)
  if (!taken) return { input, init: { ...more, ...init } }
  const { body: _taken, ...rest } = init
  return { input: request, init: { ...more, ...rest } }
}

function modeOf({ credentials }: ResolvedOptions): RequestInit {
  return credentials ? { credentials } : {}
}

/** To the platform, any `init` beside a Request takes its referrer away; an attempt has one although the caller had none. */
function keptMembers({ referrer, referrerPolicy }: Request, init: RequestInit): RequestInit {
  return Object.keys(init).length > 0 ? {} : { referrer, referrerPolicy }
}

/** In Node there is no page that a relative URL could belong to; where a base was given, it belongs to that. */
function addressOf(input: Input, { baseUrl, anyOrigin }: ResolvedOptions): Input {
  return input instanceof Request || anyOrigin || !baseUrl ? input : joinToBase(String(input), baseUrl)
}

function isHttp(input: Input): boolean {
  const url = input instanceof Request ? input.url : String(input)
  const scheme = /^[\s\0]*([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  return scheme === undefined || scheme === 'http' || scheme === 'https'
}

/** The platform's own reading, or its own error. The caller's signal is not followed: the attempts are given it. */
function understood(input: Input, init: RequestInit): Request {
  const signal = init.signal instanceof AbortSignal || init.signal === undefined ? null : init.signal
  return new Request(input, { ...init, signal })
}

function keyOf(request: Request, options: ResolvedOptions): Key {
  const header = request.headers.get(options.keyHeader.name)
  // What is no key is sent like any other header.
  const ownKey = header === null ? undefined : parseKey(header)
  const said = resolveHonoursKeys(options.honoursKeys, request)
  const wanted = ownKey !== undefined || (said === true && options.durable !== false)
  const keyed = options.durable === true || (wanted && !isSafeMethod(request.method))
  return { ownKey, keyed, honoursKeys: said ?? ownKey !== undefined }
}

function isJournaling({ durable, journal }: ResolvedOptions): boolean {
  return durable !== false && journal !== false
}

function needOf({ keyed }: Key, options: ResolvedOptions): BodyNeed {
  if (keyed && isJournaling(options)) return 'journal'
  return options.dropInCall.retry.maxAttempts > 1 ? 'repeat' : 'once'
}

/** The members that fetch knows may be inherited: a Request that is given as `init` has all of them so. */
const MEMBERS = [
  'method',
  'headers',
  'body',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'signal',
  'duplex',
  'priority',
  'window',
] as const

function isIterator(headers: unknown): headers is Iterable<unknown> {
  return typeof headers === 'object' && headers !== null && Symbol.iterator in headers && 'next' in headers
}

function membersOf(init: RequestInit | null | undefined): RequestInit {
  if (!init) return {}
  const members: Record<string, unknown> = { ...init }
  for (const name of MEMBERS) {
    const value = (init as Record<string, unknown>)[name]
    if (value !== undefined) members[name] = value
  }
  // An iterator can be read once, and is read for each attempt.
  if (isIterator(members.headers)) members.headers = [...members.headers]
  return members
}
