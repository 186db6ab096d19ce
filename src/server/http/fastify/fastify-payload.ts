import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { isEventStream } from '../../../protocol/event-stream.ts'
import { isResponse } from '../fetch/fetch-answer.ts'
import { headerListOf } from '../own-headers.ts'

/** What Fastify is about to send: whole, or its beginning and the rest. */
export interface HeldPayload {
  readonly body: Buffer | null
  /** Where it is too large to hold, or has no end by its nature. */
  readonly stream?: unknown
}

export async function holdPayload(payload: unknown, reply: FastifyReply, limit: number): Promise<HeldPayload> {
  const given = isResponse(payload) ? unpack(payload, reply) : payload
  if (given === undefined || given === null) return { body: null }
  if (typeof given === 'string' || given instanceof Uint8Array) return { body: bytesOf(given) }
  if (isEventStream(headerListOf(reply.getHeaders()))) return { body: null, stream: given }
  return holdStream(chunksOf(given), limit)
}

/** As Fastify does it a moment later. */
function unpack(response: Response, reply: FastifyReply): unknown {
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  return response.body
}

async function holdStream(source: AsyncIterable<unknown>, limit: number): Promise<HeldPayload> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let size = 0
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const chunk = bytesOf(next.value as string | Uint8Array)
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) return { body: null, stream: Readable.from(continued(chunks, iterator), { objectMode: false }) }
  }
  return { body: size === 0 ? null : Buffer.concat(chunks) }
}

/** What was read already, then the rest as it is asked for. */
async function* continued(chunks: readonly Buffer[], rest: AsyncIterator<unknown>): AsyncGenerator<Buffer> {
  yield* chunks
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield bytesOf(next.value as Uint8Array)
  } finally {
    await rest.return?.()
  }
}

function chunksOf(stream: unknown): AsyncIterable<unknown> {
  const isIterable = Symbol.asyncIterator in (stream as object)
  return isIterable ? (stream as AsyncIterable<unknown>) : new Readable().wrap(stream as NodeJS.ReadableStream)
}

function bytesOf(chunk: string | Uint8Array): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
