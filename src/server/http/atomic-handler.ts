import { ConfigurationError } from '../../errors/classes.ts'
import type { AtomicContext } from '../guard/serve-atomic.ts'
import { readWithin } from './buffered-body.ts'
import { fetchInbound, responseOf } from './fetch-handler.ts'
import type { Answer, Inbound } from './port.ts'

/** A request whose body has been read: a transaction of SQLite can't wait for it. */
export interface AtomicRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The request as it came; its body has been read. */
  readonly native: Request
  bytes(): Uint8Array
  text(): string
  /** What the body says as JSON; throws a SyntaxError where it is none. */
  json<T = Awaited<ReturnType<Request['json']>>>(): T
}

export type AtomicHandler = (request: AtomicRequest, tx: unknown, context: AtomicContext) => unknown

type Serve = (inbound: Inbound, run: (tx: unknown, context: AtomicContext) => unknown) => Promise<Answer>

/** A fetch-style handler whose whole work is one transaction. */
export function atomicFetch(serve: Serve, maxRequestBytes: number, handler: AtomicHandler) {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('atomic() needs a handler: ledger.atomic((request, tx) => reply, options)')
  }
  return async (native: Request): Promise<Response> => {
    let body: Promise<Uint8Array | null> | undefined
    let read: Uint8Array | null = null
    const readBody = async (): Promise<Uint8Array | null> => {
      body ??= readWithin(native.body, maxRequestBytes)
      read = await body
      return read
    }
    const inbound = { ...fetchInbound(native, maxRequestBytes), body: readBody }
    return responseOf(await serve(inbound, (tx, context) => handler(readRequest(native, read), tx, context)))
  }
}

const decoder = new TextDecoder()

function readRequest(native: Request, body: Uint8Array | null): AtomicRequest {
  const { method, url, headers } = native
  const bytes = body ?? new Uint8Array()
  const text = (): string => decoder.decode(bytes)
  return { method, url, headers, native, bytes: () => bytes, text, json: () => JSON.parse(text()) }
}
