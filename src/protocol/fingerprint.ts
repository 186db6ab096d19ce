import { readCanonicalJson } from '../foundation/canonical-json.ts'
import { jsonText } from '../foundation/json-text.ts'
import { formParts } from './form-parts.ts'
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

/** What a body parser made of a body, JSON or a form. `undefined` stands for none. */
export interface ParsedBody {
  readonly json: unknown
}

/**
 * How the body was seen. `bytes…`: as it came. `parsed…`: as a parser in front of the ledger has left it. `…-json`: JSON
 * that says the same to both. A parser loses the spelling of large JSON, of a form and of what is compressed, and digits
 * of long numbers, unless it makes BigInts of them.
 */
export type BodySeen = 'bytes' | 'bytes-json' | 'parsed' | 'parsed-json' | 'parsed-bigint'

/** What is hashed, in the form that a `Digest` takes. */
export interface FingerprintInput {
  readonly texts: readonly string[]
  readonly bytes: Uint8Array | null
  readonly seen: BodySeen
}

/** Could one request have been seen in both ways, and got two fingerprints? Then a difference between them says nothing. */
export function areComparable(one: string, other: string): boolean {
  const areBytes = one.startsWith('bytes') && other.startsWith('bytes')
  return one === other || areBytes || (one.endsWith('-json') && other.endsWith('-json'))
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

const CANONICAL = ['json']
const AS_SPELLED = ['json as spelled']

/**
 * Two requests with the same key are the same request if this is equal. The scope goes in first, so that one request of two
 * tenants has two fingerprints. It hides nothing from a reader of the ledger, who finds it in the same row: only a
 * secret in the digest does.
 */
export function fingerprintInput(request: FingerprintRequest): FingerprintInput {
  const { scope, method, path, query } = request
  const body = bodyInput(request)
  return { ...body, texts: [scope, method, path, query, ...body.texts] }
}

/** The first text says how the bytes are meant, so that a body of one kind never equals one of another. */
function bodyInput({ body, contentType, contentEncoding }: FingerprintRequest): FingerprintInput {
  const type = parseMediaType(contentType)
  if (body !== null && !(body instanceof Uint8Array)) return parsedInput(body.json, type)
  if (body === null || body.length === 0) return noBody('bytes-json')
  const encoding = (contentEncoding ?? '').trim().toLowerCase()
  const labelled = { bytes: body, type, encoding: encoding === 'identity' ? '' : encoding }
  return jsonInput(labelled) ?? multipartInput(labelled) ?? rawInput(labelled)
}

/** A missing body and an empty one are the same, whatever type it is said to have. */
function noBody(seen: BodySeen): FingerprintInput {
  return { texts: ['none'], bytes: null, seen }
}

/** JSON is its own description: a media type beside it, vendor names and versions included, says nothing more. */
function jsonInput({ bytes, type, encoding }: LabelledBody): FingerprintInput | undefined {
  if (encoding !== '' || !isJson(type)) return undefined
  if (bytes.length > LARGEST_CANONICAL_BYTES) return { texts: AS_SPELLED, bytes, seen: 'bytes' }
  const text = utf8Text(bytes)
  const canonical = text === undefined ? undefined : readCanonicalJson(text)
  if (!canonical) return undefined
  return {
    texts: CANONICAL,
    bytes: encoder.encode(canonical.text),
    seen: canonical.isPortable ? 'bytes-json' : 'bytes',
  }
}

/** The same as its bytes would have given, if a parser loses nothing of them. */
function parsedInput(value: unknown, type: MediaType): FingerprintInput {
  const { text, hasBigInt } = jsonText(value)
  if (text === undefined) return noBody('parsed-json')
  const bytes = encoder.encode(text)
  const otherwise = hasBigInt ? 'parsed-bigint' : 'parsed'
  if (bytes.length > LARGEST_CANONICAL_BYTES) return { texts: AS_SPELLED, bytes, seen: otherwise }
  const canonical = readCanonicalJson(text)
  const isJsonToAll = canonical?.isPortable === true && isJson(type)
  return {
    texts: CANONICAL,
    bytes: canonical ? encoder.encode(canonical.text) : bytes,
    seen: isJsonToAll ? 'parsed-json' : otherwise,
  }
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
  const parts = formParts(bytes, boundary)
  return parts && { texts: ['form', parts.lengths.join()], bytes: parts.bytes, seen: 'bytes' }
}

/** The same bytes may be a text or a form: here the type belongs to what is said. */
function rawInput({ bytes, type, encoding }: LabelledBody): FingerprintInput {
  return { texts: ['bytes', type.essence, encoding], bytes, seen: 'bytes' }
}
