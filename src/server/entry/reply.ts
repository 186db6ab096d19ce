import { ConfigurationError } from '../../errors/classes.ts'
import { type Duration, parseDuration } from '../../foundation/duration.ts'
import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { PROBLEM } from '../../protocol/problem-details.ts'

export interface ReplyInit {
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | HeaderList | Headers | undefined
}

/** Marks replies across duplicate installs of the package. */
const BRAND = Symbol.for('holdfast.reply')

/** An answer as plain values: a `Response` can't be read inside a synchronous transaction. */
export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: HeaderList
  readonly body: Uint8Array | null
}

/** What an effect may return where its store is asynchronous. */
export type EffectReturn = Reply | Response | Promise<Reply | Response>

const encoder = new TextEncoder()

/** An answer with a value as JSON. */
export function json(value: unknown, init: ReplyInit = {}): Reply {
  const text = JSON.stringify(value)
  if (text === undefined) throw new ConfigurationError('json() was given something that JSON cannot say')
  return makeReply(encoder.encode(text), init, withType(headerList(init.headers), 'application/json'))
}

/** An answer with a body as it is: text (as UTF-8), bytes, or none. */
export function reply(body: string | Uint8Array | null, init: ReplyInit = {}): Reply {
  const headers = headerList(init.headers)
  if (typeof body !== 'string') return makeReply(body === null ? null : Uint8Array.from(body), init, headers)
  return makeReply(encoder.encode(body), init, withType(headers, 'text/plain;charset=UTF-8'))
}

export interface OverloadedOptions {
  /** When a new operation may be tried. Sent in whole seconds, rounded up. Default: not sent. */
  readonly retryAfter?: Duration | undefined
  /** A sentence for the reader of the answer. */
  readonly detail?: string | undefined
}

/**
 * The answer *overloaded, do not retry*: 503, and every layer outside gives up at once instead of retrying.
 *
 * ```ts
 * if (queue.length > 1000) return overloaded({ retryAfter: '30s' })
 * ```
 */
export function overloaded(options: OverloadedOptions = {}): Reply {
  const { retryAfter, detail = 'There is more to do than can be done. Coming back now would make it worse.' } = options
  const problem = { type: PROBLEM.overloaded, status: 503, title: 'Overloaded', detail }
  const headers = { 'content-type': 'application/problem+json', [HEADER.doNotRetry]: 'true' }
  if (retryAfter === undefined) return json(problem, { status: 503, headers })
  const ms = parseDuration(retryAfter)
  if (ms === undefined) throw new ConfigurationError("overloaded: retryAfter must be a duration, such as '30s'")
  return json(problem, { status: 503, headers: { ...headers, 'retry-after': String(Math.ceil(ms / 1000)) } })
}

/** An answer that is already in plain values, as a reply. */
export function replyOf({ status, headers, body }: Reply): Reply {
  return branded({ status, headers, body })
}

export function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true
}

function makeReply(body: Uint8Array | null, init: ReplyInit, headers: HeaderList): Reply {
  const status = init.status ?? 200
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new ConfigurationError(`The status of a reply is a number from 200 to 599; it was given ${String(status)}`)
  }
  return branded({ status, headers, body })
}

function branded(plain: Reply): Reply {
  return Object.defineProperty(plain, BRAND, { value: true })
}

function withType(headers: HeaderList, type: string): HeaderList {
  return headers.some(([name]) => name === 'content-type') ? headers : [['content-type', type], ...headers]
}

/** Through `Headers`, which refuses invalid names and values. Cookies stay one field each. */
function headerList(given: ReplyInit['headers']): HeaderList {
  return [...new Headers((given ?? {}) as HeadersInit)]
}
