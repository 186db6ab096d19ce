import { pipeline, Readable, Transform } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyReply } from 'fastify'
import type { HeaderList } from '../../protocol/headers.ts'
import { isEventStream } from '../../protocol/headers.ts'
import { bufferBody } from './buffered-body.ts'
import { isFetchResponse } from './fetch-handler.ts'
import { FRAMING, headerListOf, replacingHeaders, valuesByName } from './handler-answer.ts'
import type { Answer } from './port.ts'
import type { StreamedSession } from './streamed-session.ts'

export function replyHeaders(reply: FastifyReply): HeaderList {
  return headerListOf(reply.getHeaders())
}

/**
 * Sends an answer in place of what Fastify was about to send, with those of the headers that are not about the body.
 * Default: those that are there.
 */
export function replaceReply(reply: FastifyReply, answer: Answer, headers = replyHeaders(reply)): Buffer | null {
  setReplyHeaders(reply, replacingHeaders(headers, answer.headers))
  reply.code(answer.status)
  return bufferOf(answer)
}

/** In place of all headers that are there. */
export function setReplyHeaders(reply: FastifyReply, headers: HeaderList): void {
  // Fastify would append to cookies that are there.
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  for (const [name, values] of valuesByName(headers)) reply.header(name, values.length > 1 ? values : values[0])
}

export function bufferOf({ body }: Answer): Buffer | null {
  return body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

export function destroyStream(stream: unknown): void {
  const { destroy, cancel } = (stream ?? {}) as { destroy?: () => void; cancel?: () => Promise<void> }
  if (destroy) destroy.call(stream)
  else cancel?.call(stream).catch(() => {})
}

/** A payload as Fastify takes it after its serializers, in plain values. */
interface ReadPayload {
  readonly body: Buffer | null
  /** If the payload is too large to buffer, or has no end. */
  readonly stream?: unknown
}

/** Of a `Response`, status and headers go to the reply, as Fastify does it after `onSend`. */
export async function readPayload(payload: unknown, reply: FastifyReply, limit: number): Promise<ReadPayload> {
  const read = await bufferPayload(payload, reply, limit)
  // Fastify sends a payload that is no stream with its length.
  if (read.stream === undefined) for (const name of FRAMING) reply.removeHeader(name)
  return read
}

async function bufferPayload(payload: unknown, reply: FastifyReply, limit: number): Promise<ReadPayload> {
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

export function statusOnly(reply: FastifyReply): Answer {
  return { status: reply.statusCode, headers: [], body: null }
}

/** Passes the stream on, and its end when that is on record. */
export function recordedPayload(stream: unknown, session: StreamedSession): Transform {
  const source = nodeStream(stream)
  const passed = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => void session.end().then(() => done(), done),
  })
  let isLeft = false
  passed.once('close', () => {
    isLeft = !passed.writableFinished && !passed.errored
  })
  pipeline(source, passed, (error) => {
    if (!error) return
    if (isLeft) session.leave()
    else void session.fail(error)
  })
  return passed
}

function nodeStream(stream: unknown): Readable {
  if (stream instanceof Readable) return stream
  const { getReader } = stream as { getReader?: unknown }
  return getReader ? Readable.fromWeb(stream as ReadableStream) : new Readable().wrap(stream as NodeJS.ReadableStream)
}
