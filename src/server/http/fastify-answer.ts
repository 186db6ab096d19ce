import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { HeaderList } from '../../protocol/headers.ts'
import { isEventStream } from '../../protocol/headers.ts'
import type { Reply } from '../entry/reply.ts'
import type { Session } from '../guard/session.ts'
import { bufferBody } from './buffered-body.ts'
import { isFetchResponse } from './fetch-handler.ts'
import { type HandlerAnswer, headerListOf, headersOfHandler, isHandlers, valuesByName } from './handler-answer.ts'
import type { Answer, StreamedAnswer } from './port.ts'

/** A request on its way through Fastify. */
export interface FastifyExchange {
  readonly session: Session
  /** The headers of hooks in front of the ledger: sent with every answer, and never recorded. */
  readonly before: HeaderList
  readonly limit: number
  /** What was thrown; Fastify has made an answer of it by the time of `onSend`. */
  error?: unknown
  /** What the handler has returned, where that was a reply. */
  reply?: Reply
}

export function replyHeaders(reply: FastifyReply): HeaderList {
  return headerListOf(reply.getHeaders())
}

/** Ends the session. Returns the payload to send. */
export async function settlePayload(
  exchange: FastifyExchange,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { session, before } = exchange
  if (exchange.error !== undefined && session.isFailure(reply.statusCode)) {
    const instead = await session.fail(exchange.error)
    return instead ? replaceReply(reply, before, instead) : payload
  }
  if (exchange.reply) return replaceReply(reply, before, await session.complete(exchange.reply))
  if (session.records) return recordPayload(exchange, reply, payload)
  await session.complete({ status: reply.statusCode, headers: [], body: null })
  return payload
}

async function recordPayload(
  { session, before, limit }: FastifyExchange,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { body, stream } = await bufferPayload(payload, reply, limit)
  const headers = headersOfHandler(replyHeaders(reply), before)
  const answer: HandlerAnswer = { status: reply.statusCode, headers, body, isHandlers: true }
  const streamed: HandlerAnswer & StreamedAnswer = { ...answer, streamed: true }
  const outgoing = await session.complete(stream === undefined ? answer : streamed)
  if (!isHandlers(outgoing)) {
    destroyStream(stream)
    return replaceReply(reply, before, outgoing)
  }
  for (const [name] of headers) reply.removeHeader(name)
  setReplyHeaders(reply, outgoing.headers)
  return stream ?? bufferOf(outgoing)
}

/** Replaces status, headers and body of the handler. */
export function replaceReply(reply: FastifyReply, before: HeaderList, answer: Answer): Buffer | null {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  setReplyHeaders(reply, before)
  setReplyHeaders(reply, answer.headers)
  reply.code(answer.status)
  return bufferOf(answer)
}

function setReplyHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (const [name, values] of valuesByName(headers)) {
    // Fastify appends to cookies that are there.
    reply.removeHeader(name)
    reply.header(name, values.length > 1 ? values : values[0])
  }
}

function bufferOf({ body }: Answer): Buffer | null {
  return body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function destroyStream(stream: unknown): void {
  const { destroy, cancel } = (stream ?? {}) as { destroy?: () => void; cancel?: () => Promise<void> }
  if (destroy) destroy.call(stream)
  else cancel?.call(stream).catch(() => {})
}

interface BufferedPayload {
  readonly body: Buffer | null
  /** Where the payload is too large to buffer, or has no end. */
  readonly stream?: unknown
}

async function bufferPayload(payload: unknown, reply: FastifyReply, limit: number): Promise<BufferedPayload> {
  const given = isFetchResponse(payload) ? unpackResponse(payload, reply) : payload
  if (given === undefined || given === null) return { body: null }
  if (typeof given === 'string' || given instanceof Uint8Array) return { body: bytesOf(given) }
  if (isEventStream(replyHeaders(reply))) return { body: null, stream: given }
  const source = iteratorOf(given)
  const read = async () => {
    const { done, value } = await source.next()
    return done ? { done } : { value: bytesOf(value as string | Uint8Array) }
  }
  const { chunks, size, isWhole } = await bufferBody(read, limit)
  if (isWhole) return { body: size === 0 ? null : Buffer.concat(chunks) }
  return { body: null, stream: Readable.from(continuedChunks(chunks, source), { objectMode: false }) }
}

/** As Fastify does it after `onSend`. */
function unpackResponse(response: Response, reply: FastifyReply): unknown {
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  return response.body
}

/** The chunks that were read already, then the rest. */
async function* continuedChunks(chunks: readonly Buffer[], rest: AsyncIterator<unknown>): AsyncGenerator<Buffer> {
  yield* chunks
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield bytesOf(next.value as Uint8Array)
  } finally {
    await rest.return?.()
  }
}

function iteratorOf(stream: unknown): AsyncIterator<unknown> {
  const isIterable = Symbol.asyncIterator in (stream as object)
  const source = isIterable ? (stream as AsyncIterable<unknown>) : new Readable().wrap(stream as NodeJS.ReadableStream)
  return source[Symbol.asyncIterator]()
}

function bytesOf(chunk: string | Uint8Array): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
