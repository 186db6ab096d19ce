import { ConfigurationError } from '../../errors/classes.ts'
import type { HeaderList } from '../../protocol/headers.ts'

export interface ReplyInit {
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | HeaderList | Headers | undefined
}

/** Marks replies across duplicate installs of the package. */
const BRAND = Symbol.for('holdfast.reply')

/** An answer as plain values, so that it can be written inside a transaction that does not wait. */
export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: HeaderList
  readonly body: Uint8Array | null
}

/** What an effect may return where its store can wait. */
export type EffectReturn = Reply | Response | Promise<Reply | Response>

const encoder = new TextEncoder()

/** An answer with a value as JSON. */
export function json(value: unknown, init: ReplyInit = {}): Reply {
  const text = JSON.stringify(value)
  if (text === undefined) throw new ConfigurationError('json() was given something that JSON cannot say')
  const headers = headerList(init.headers)
  const typed = headers.some(([name]) => name === 'content-type')
  return makeReply(encoder.encode(text), init, typed ? headers : [['content-type', 'application/json'], ...headers])
}

/** An answer with a body as it is: text (as UTF-8), bytes, or none. */
export function reply(body: string | Uint8Array | null, init: ReplyInit = {}): Reply {
  const headers = headerList(init.headers)
  if (typeof body !== 'string') return makeReply(body === null ? null : Uint8Array.from(body), init, headers)
  const typed = headers.some(([name]) => name === 'content-type')
  return makeReply(
    encoder.encode(body),
    init,
    typed ? headers : [['content-type', 'text/plain;charset=UTF-8'], ...headers],
  )
}

/** An answer that is already there in plain values, as a reply. */
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

/** Through `Headers`, which refuses what HTTP does not know. Cookies stay one field each. */
function headerList(given: ReplyInit['headers']): HeaderList {
  return [...new Headers((given ?? {}) as HeadersInit)]
}
