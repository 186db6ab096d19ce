import { BodyError, ConfigurationError } from '../errors/classes.ts'
import type { CodesOf } from '../errors/codes.ts'
import { joinChunks } from '../foundation/join-chunks.ts'
import type { BodyInput, CallOptions } from './options.ts'

/** The bytes that every attempt sends, and the content type they imply. */
export interface BodySnapshot {
  readonly bytes: Uint8Array | null
  readonly contentType: string | undefined
}

const NO_BODY: BodySnapshot = { bytes: null, contentType: undefined }
const encoder = new TextEncoder()

/**
 * Takes the body's bytes before the call returns, so that mutating it later changes nothing. Only what
 * has to be read (Blob, FormData, streams) is a promise; what it reads from was fixed here, too.
 */
export function snapshotBody(options: CallOptions, limit: number): BodySnapshot | Promise<BodySnapshot> {
  if (options.json !== undefined) return checkedBody(jsonBytes(options.json), 'application/json', limit)
  const { body } = options
  if (body === undefined || body === null) return NO_BODY
  if (typeof body === 'string') return checkedBody(encoder.encode(body), 'text/plain;charset=UTF-8', limit)
  if (body instanceof URLSearchParams) {
    return checkedBody(encoder.encode(body.toString()), 'application/x-www-form-urlencoded;charset=UTF-8', limit)
  }
  if (isArrayBuffer(body) || ArrayBuffer.isView(body)) return checkedBody(copyBytes(body), undefined, limit)
  return readBody(body, limit)
}

/** A body that no attempt can send: nothing was. */
function unsendable(
  message: string,
  details: { readonly code?: CodesOf['BodyError']; readonly cause?: unknown } = {},
): BodyError {
  return new BodyError(message, { reason: 'not-replayable', ...details, effect: 'none' })
}

function jsonBytes(value: unknown): Uint8Array {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw unsendable(`The json option cannot be serialised: ${(cause as Error).message}`, { cause })
  }
  if (text === undefined) throw unsendable('The json option cannot be serialised: it is a function or a symbol')
  return encoder.encode(text)
}

/** Also one of another realm: a worker's, a frame's, a test runner's. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer || Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}

export function copyBytes(body: ArrayBuffer | ArrayBufferView): Uint8Array {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(body) ? body : new Uint8Array(body)
  return new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
}

export function checkedBody(bytes: Uint8Array, contentType: string | undefined, limit: number): BodySnapshot {
  if (bytes.length > limit) throw tooLarge(limit)
  return { bytes, contentType }
}

function tooLarge(limit: number): BodyError {
  return unsendable(
    `The request body is larger than maxBodyBytes (${limit} bytes); nothing was sent. Raise maxBodyBytes, or upload it elsewhere and post a reference`,
    { code: 'HOLDFAST_BODY_TOO_LARGE' },
  )
}

/** For `client.fetch` with `durable: true`. */
export function unjournalable(limit: number): BodyError {
  return unsendable(
    `The request body cannot be journaled: it is larger than maxBodyBytes (${limit} bytes), or of a kind that cannot be read twice; nothing was sent`,
    { code: 'HOLDFAST_BODY_TOO_LARGE' },
  )
}

/** A file that went away, a stream that failed: nothing was sent, and trying again can't help. */
export function unreadable(cause: unknown): never {
  if (cause instanceof BodyError) throw cause
  const detail = cause instanceof Error ? cause.message : String(cause)
  throw unsendable(`The body could not be read: ${detail}`, { code: 'HOLDFAST_BODY_UNREADABLE', cause })
}

function readBody(body: BodyInput, limit: number): Promise<BodySnapshot> {
  if (body instanceof Blob) {
    if (body.size > limit) throw tooLarge(limit)
    const contentType = body.type || undefined
    return body.arrayBuffer().then((buffer) => ({ bytes: new Uint8Array(buffer), contentType }), unreadable)
  }
  if (body instanceof FormData) return readForm(body, limit).catch(unreadable)
  if (body instanceof ReadableStream) {
    if (body.locked)
      throw unsendable(
        'The body is a stream that is already being read (locked), so it cannot be replayed. Nothing was sent',
      )
    return readChunks(body as unknown as AsyncIterable<unknown>, limit).catch(unreadable)
  }
  if (isAsyncIterable(body)) return readChunks(body, limit).catch(unreadable)
  throw new ConfigurationError(
    'body must be a string, bytes, Blob, URLSearchParams, FormData, ReadableStream or async iterable; use json for plain objects',
  )
}

/** The platform writes the form once, with one boundary; those bytes are what every attempt sends. */
async function readForm(form: FormData, limit: number): Promise<BodySnapshot> {
  const written = new Response(form)
  const contentType = written.headers.get('content-type') ?? undefined
  const bytes = new Uint8Array(await written.arrayBuffer())
  return checkedBody(bytes, contentType, limit)
}

async function readChunks(source: AsyncIterable<unknown>, limit: number): Promise<BodySnapshot> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early ends the source as well: a stream is cancelled, a generator is returned.
  for await (const chunk of source) {
    const bytes = chunkBytes(chunk)
    size += bytes.length
    if (size > limit) throw tooLarge(limit)
    chunks.push(bytes)
  }
  return { bytes: joinChunks(chunks, size), contentType: undefined }
}

function chunkBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === 'string') return encoder.encode(chunk)
  if (chunk instanceof Uint8Array) return chunk.slice()
  throw unsendable('A streamed body must give strings or Uint8Arrays')
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
