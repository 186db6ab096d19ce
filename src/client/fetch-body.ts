import { readChunksUpTo } from '../foundation/join-chunks.ts'
import { copyBytes, isArrayBuffer, unreadable } from './request-body.ts'

/** The body of a call of `client.fetch`, as its attempts give it to the platform's fetch. */
export interface FetchBody {
  /** Undefined: as the caller gave it, in `init` or in its Request. */
  readonly given: BodyInit | undefined
  /** What the journal takes. Undefined: it can't be written down. */
  readonly bytes: Uint8Array | null | undefined
  /** What a further attempt is given. Undefined: it can't be sent again, or not yet. */
  readonly again: () => BodyInit | null | undefined
  /** It can never be sent again. */
  readonly isOnce: boolean
}

/** What the body is needed for: one attempt, every attempt, or the journal too. */
export type BodyNeed = 'once' | 'repeat' | 'journal'

export interface BodySource {
  /** What the platform made of the arguments; its body is read where bytes are needed. */
  readonly request: Request
  /** `body` of the arguments; undefined where the body is that of the caller's Request. */
  readonly body: unknown
  readonly signal: AbortSignal | undefined
  readonly limit: number
}

const NO_BODY: FetchBody = { given: undefined, bytes: null, again: () => null, isOnce: false }
const AS_GIVEN: FetchBody = { given: undefined, bytes: undefined, again: () => undefined, isOnce: true }
const encoder = new TextEncoder()

/** What can't be held in memory, up to the limit, is sent once, as the caller gave it. */
export function holdBody(source: BodySource, need: BodyNeed): FetchBody | Promise<FetchBody> {
  const { body, request, limit } = source
  if (request.body === null && !isBodyStream(body)) return NO_BODY
  if (typeof body === 'string') return replayableText(body, limit)
  if (body instanceof URLSearchParams) return replayableText(body.toString(), limit)
  if (isArrayBuffer(body) || ArrayBuffer.isView(body)) {
    // A buffer that was transferred away is empty, as fetch has it.
    return replayableBytes(body.byteLength === 0 ? new Uint8Array() : copyBytes(body), limit)
  }
  // A Blob can't change, and may be larger than memory.
  if (body instanceof Blob && (need !== 'journal' || body.size > limit)) return replayable(body, undefined)
  if (need === 'once' || (body instanceof FormData && sizeOf(body) > limit)) return AS_GIVEN
  if (need === 'journal' || body instanceof FormData) return isReadableBody(body) ? readWhole(source) : AS_GIVEN
  return body === undefined ? tap(source) : AS_GIVEN
}

/** A body that gives its bytes one after the other. */
export function isBodyStream(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || body instanceof Blob || body instanceof FormData) return false
  return body instanceof ReadableStream || Symbol.asyncIterator in body
}

/** Of another kind (a FormData of another library, say) the platform's Request would read something else. */
function isReadableBody(body: unknown): boolean {
  return body === undefined || body instanceof Blob || body instanceof FormData || isBodyStream(body)
}

function replayable(given: BodyInit, bytes: Uint8Array | undefined): FetchBody {
  return { given, bytes, again: () => given, isOnce: false }
}

function replayableText(text: string, limit: number): FetchBody {
  const bytes = encoder.encode(text)
  return replayable(text, bytes.length > limit ? undefined : bytes)
}

function replayableBytes(bytes: Uint8Array, limit: number): FetchBody {
  return replayable(bytes as BodyInit, bytes.length > limit ? undefined : bytes)
}

function sizeOf(form: FormData): number {
  let size = 0
  for (const [name, value] of form) size += name.length + (typeof value === 'string' ? value.length : value.size)
  return size
}

/** Read before anything is sent: the journal needs all of it. */
async function readWhole(source: BodySource): Promise<FetchBody> {
  const bytes = await readBodyCopy(source)
  return bytes ? replayable(bytes as BodyInit, bytes) : AS_GIVEN
}

/**
 * The body of a Request may be a stream that lives for long: it is sent as it comes, and copied on the way. Once all of
 * it was seen, it can be sent again.
 */
function tap(source: BodySource): FetchBody {
  let copy: Uint8Array | undefined
  readBodyCopy(source).then(
    (bytes) => {
      copy = bytes
    },
    () => {},
  )
  return { given: undefined, bytes: undefined, again: () => copy as BodyInit | undefined, isOnce: false }
}

/**
 * The bytes of a copy; undefined where they are more than the limit. The body itself stays as it is, so that the
 * platform sends it as it would: with its length where that is known.
 */
async function readBodyCopy({ request, signal, limit }: BodySource): Promise<Uint8Array | undefined> {
  const reader = (request.clone().body as ReadableStream<Uint8Array>).getReader()
  try {
    const { whole } = await readChunksUpTo(limit, reader, signal)
    if (!whole) reader.cancel().catch(() => {})
    return whole
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    return unreadable(error)
  }
}
