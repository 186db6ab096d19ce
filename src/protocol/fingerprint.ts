import { canonicalJson } from '../foundation/canonical-json.ts'
import { type MediaType, parseMediaType } from './media-type.ts'

/** A request as far as it says what is to be done. Attempt counters, dates, credentials and the like do not. */
export interface FingerprintRequest {
  readonly scope: string
  readonly method: string
  readonly path: string
  /** Without its question mark; empty where there is none. */
  readonly query: string
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** The bytes as they came, or what a framework parsed before the ledger saw the request. */
  readonly body: Uint8Array | ParsedBody | null
}

/** A body that was read as JSON already. `undefined` stands for none. */
export interface ParsedBody {
  readonly json: unknown
}

/** What is hashed, in the form that a `Digest` takes. */
export interface FingerprintInput {
  readonly texts: readonly string[]
  readonly bytes: Uint8Array | null
}

/** A body and what was said about it. */
interface LabelledBody {
  readonly bytes: Uint8Array
  readonly type: MediaType
  /** Lower case; empty where the bytes are the body itself. */
  readonly encoding: string
}

const encoder = new TextEncoder()

/** Larger JSON is compared as it is spelled: its canonical form would keep the event loop busy for too long. */
const LARGEST_CANONICAL_BYTES = 256 * 1024

/** A missing body and an empty one are the same, whatever type it is said to have. */
const NO_BODY: FingerprintInput = { texts: ['none'], bytes: null }

/**
 * Two requests with the same key are the same request when this is equal. The scope goes in first, as a salt: a
 * fingerprint does not prove to a reader of the ledger that a tenant has made a request which the reader can guess.
 */
export function fingerprintInput(request: FingerprintRequest): FingerprintInput {
  const { scope, method, path, query } = request
  const body = bodyInput(request)
  return { texts: [scope, method, path, query, ...body.texts], bytes: body.bytes }
}

/** The first text says how the bytes are meant, so that a body of one kind never equals one of another. */
function bodyInput({ body, contentType, contentEncoding }: FingerprintRequest): FingerprintInput {
  if (body === null) return NO_BODY
  if (!(body instanceof Uint8Array)) return parsedInput(body.json)
  if (body.length === 0) return NO_BODY
  const encoding = (contentEncoding ?? '').trim().toLowerCase()
  const type = parseMediaType(contentType)
  const labelled = { bytes: body, type, encoding: encoding === 'identity' ? '' : encoding }
  return jsonInput(labelled) ?? multipartInput(labelled) ?? rawInput(labelled)
}

/** JSON is its own description: a media type beside it, vendor names and versions included, says nothing more. */
function jsonInput({ bytes, type, encoding }: LabelledBody): FingerprintInput | undefined {
  if (encoding !== '' || !isJson(type)) return undefined
  if (bytes.length > LARGEST_CANONICAL_BYTES) return spelledInput(bytes)
  const text = utf8Text(bytes)
  const canonical = text === undefined ? undefined : canonicalJson(text)
  return canonical === undefined ? undefined : { texts: ['json'], bytes: encoder.encode(canonical) }
}

/** The same as its bytes would have given, as long as all its numbers are exact as numbers of this language. */
function parsedInput(value: unknown): FingerprintInput {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return NO_BODY
  const bytes = encoder.encode(text)
  if (bytes.length > LARGEST_CANONICAL_BYTES) return spelledInput(bytes)
  return { texts: ['json'], bytes: encoder.encode(canonicalJson(text) ?? text) }
}

function spelledInput(bytes: Uint8Array): FingerprintInput {
  return { texts: ['json as spelled'], bytes }
}

function isJson({ essence, parameters }: MediaType): boolean {
  const charset = parameters.get('charset')?.toLowerCase() ?? 'utf-8'
  const isUtf8 = charset === 'utf-8' || charset === 'utf8'
  return isUtf8 && (essence === 'application/json' || /^[^/]+\/.+\+json$/.test(essence))
}

function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A form gets a new boundary each time it is written: it is taken out, and its places are kept as the lengths between them. */
function multipartInput({ bytes, type, encoding }: LabelledBody): FingerprintInput | undefined {
  const boundary = type.parameters.get('boundary')
  if (encoding !== '' || type.essence !== 'multipart/form-data' || !boundary) return undefined
  const parts = cutAt(bytes, `--${boundary}`)
  if (parts.length < 2) return undefined
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return { texts: ['form', parts.map((part) => part.length).join()], bytes: whole }
}

/** What stands between the delimiters. They are ASCII, and stand at the beginning of a line. */
function cutAt(bytes: Uint8Array, delimiter: string): Uint8Array[] {
  // A character for each byte, so that the positions are the same.
  const text = new TextDecoder('latin1').decode(bytes)
  const parts: Uint8Array[] = []
  let from = 0
  for (let at = text.indexOf(delimiter); at !== -1; at = text.indexOf(delimiter, at + delimiter.length)) {
    if (at > 0 && text[at - 1] !== '\n') continue
    parts.push(bytes.subarray(from, at))
    from = at + delimiter.length
  }
  return [...parts, bytes.subarray(from)]
}

/** The same bytes may be a text or a form: here the type belongs to what is said. */
function rawInput({ bytes, type, encoding }: LabelledBody): FingerprintInput {
  return { texts: ['bytes', type.essence, encoding], bytes }
}
