import { ConfigurationError } from '../../errors/classes.ts'
import { joinChunks } from '../../foundation/join-chunks.ts'
import { isEventStream } from '../../protocol/headers.ts'
import { isBodiless, readableHeaders } from '../../protocol/stored-message.ts'
import { isReply } from '../entry/reply.ts'
import type { LedgerGuard } from '../guard/begin.ts'
import type { IdempotencyContext } from '../guard/context.ts'
import type { Session } from '../guard/session.ts'
import { bufferBody, readWithin } from './buffered-body.ts'
import { FRAMING } from './handler-answer.ts'
import type { Answer, Inbound, StreamedAnswer } from './port.ts'
import { recordedStream, StreamedSession } from './streamed-session.ts'

type Handler<Rest extends unknown[]> = (request: Request, context: IdempotencyContext, ...rest: Rest) => unknown

/** A fetch-style handler that does its work once per key. */
export function protectFetch<Rest extends unknown[]>(
  guard: LedgerGuard,
  handler: Handler<Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('protect() needs a handler: ledger.protect((request, context) => …, options)')
  }
  return async (request, ...rest) => {
    const inbound = fetchInbound(request, guard.maxRequestBytes)
    const begun = await guard.begin(inbound)
    if (begun.kind === 'answered') return responseOf(begun.answer)
    return run(begun.session, guard, () => handler(inbound.unread(), begun.session.context, ...rest))
  }
}

async function run(session: Session, guard: LedgerGuard, handle: () => unknown): Promise<Response> {
  let fetched: FetchAnswer
  try {
    const returned = await handle()
    if (!session.records && returned instanceof Response) return await passOn(session, returned)
    fetched = await readReturned(returned, guard.maxResponseBytes)
  } catch (error) {
    const instead = await session.fail(error)
    if (instead) return responseOf(instead)
    throw error
  }
  const { answer, stream } = fetched
  const head = stream && session.streamed(answer)
  if (head) return responseOf(head, recordedStream(stream, new StreamedSession(session, answer)))
  const outgoing = await session.complete(answer)
  if ('streamed' in outgoing) return responseOf(outgoing, stream)
  await stream?.cancel()
  return responseOf(outgoing)
}

/** Nothing of it is recorded, so that it need not be buffered. */
export async function passOn(session: Session, response: Response): Promise<Response> {
  await session.complete({ status: response.status, headers: [], body: null })
  return response
}

function readReturned(returned: unknown, limit: number): Promise<FetchAnswer> {
  if (isReply(returned)) return Promise.resolve({ answer: returned })
  if (returned instanceof Response) return fetchAnswer(returned, limit)
  throw new ConfigurationError('A protected handler must return a Response, json(value, init) or reply(body, init)', {
    effect: 'unknown',
  })
}

/** A fetch request in plain values. */
export interface FetchInbound extends Inbound<Request> {
  /** For the handler: the request with its body still to be read. */
  unread(): Request
}

export function fetchInbound(request: Request, limit: number): FetchInbound {
  const url = new URL(request.url)
  let handlers = request
  return {
    native: request,
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers: [...request.headers],
    body: async () => {
      if (request.bodyUsed) {
        throw new ConfigurationError('The body was read before the ledger saw it: put protect() before what reads it')
      }
      if (!isPlain(request)) return readCopy(request, limit)
      const bytes = await readWithin(request.body, limit)
      if (bytes) handlers = withBody(request, bytes)
      return bytes
    },
    unread: () => handlers,
  }
}

/** Is it the platform's own request, without anything that a framework has added? */
function isPlain(request: Request): boolean {
  return Object.getPrototypeOf(request) === Request.prototype && Object.keys(request).length === 0
}

/** The same request with its body to be read again: a third of the cost of a clone, whose streams are one behind the other. */
function withBody(request: Request, body: Uint8Array): Request {
  const { url, method, headers } = request
  const unread = new Request(url, { method, headers, body: body as Uint8Array<ArrayBuffer> })
  // Given to the constructor, the signal would be followed by a second one.
  return Object.defineProperty(unread, 'signal', { get: () => request.signal, configurable: true })
}

async function readCopy(request: Request, limit: number): Promise<Uint8Array | null> {
  try {
    return await readWithin(request.clone().body, limit)
  } catch (error) {
    // No handler runs: without this, the rest would be buffered for it. It resolves when the copy has ended.
    request.body?.cancel().catch(() => {})
    throw error
  }
}

/** A Response in plain values; `stream` is its body where that is too large to buffer, or has no end. */
export interface FetchAnswer {
  readonly answer: Answer | StreamedAnswer
  readonly stream?: ReadableStream<Uint8Array>
}

/** Also of another realm, or of a package with a Response of its own. */
export function isFetchResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

export async function fetchAnswer(response: Response, limit: number): Promise<FetchAnswer> {
  const plain = { status: response.status, headers: [...response.headers], body: null }
  const whole = { ...plain, headers: plain.headers.filter(([name]) => !FRAMING.includes(name)) }
  if (!response.body) return { answer: whole }
  if (isEventStream(plain.headers)) return { answer: { ...plain, streamed: true }, stream: response.body }
  const reader = response.body.getReader()
  const { chunks, size, isWhole } = await bufferBody(() => reader.read(), limit)
  if (isWhole) return { answer: { ...whole, body: joinChunks(chunks, size) } }
  return { answer: { ...plain, streamed: true }, stream: continuedStream(chunks, reader) }
}

/** The chunks that were read already, then the rest. */
function continuedStream(
  chunks: readonly Uint8Array[],
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const first = [...chunks]
  return new ReadableStream({
    async pull(controller) {
      const chunk = first.shift()
      if (chunk) return controller.enqueue(chunk)
      const { done, value } = await rest.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => rest.cancel(reason),
  })
}

export function responseOf(answer: Answer, stream?: ReadableStream<Uint8Array>): Response {
  const body = isBodiless(answer.status) ? null : (stream ?? answer.body)
  return new Response(body as BodyInit | null, { status: answer.status, headers: readableHeaders(answer.headers) })
}
