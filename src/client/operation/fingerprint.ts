import { formParts } from '../../protocol/form-parts.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { parseMediaType } from '../../protocol/media-type.ts'

/** What makes a request the same request. Credentials and attempt headers do not. */
export interface ComparedRequest {
  readonly method: string
  /** Without the query parameters that carry credentials. */
  readonly url: string
  /** Those of the caller. */
  readonly headers: HeaderList
  /** That of the body, which counts if the headers have none. A record has it among its headers. */
  readonly contentType?: string | undefined
  readonly body: Uint8Array | null
}

/** What is hashed, in the form that a `Digest` takes. */
export interface FingerprintInput {
  readonly texts: readonly string[]
  readonly bytes: Uint8Array | null
}

/**
 * Two calls with one id or key are the same operation if this is equal. The platform makes a new boundary each time that it
 * writes a form: forms are compared without it, as the ledger compares them.
 */
export function fingerprintInput({ method, url, headers, contentType, body }: ComparedRequest): FingerprintInput {
  const form = body && withoutBoundary(body, headerValue(headers, 'content-type') ?? contentType)
  if (!form) return { texts: [method, url], bytes: body }
  return { texts: [method, url, 'form', form.lengths.join()], bytes: form.bytes }
}

function withoutBoundary(body: Uint8Array, contentType: string | undefined): ReturnType<typeof formParts> {
  if (!contentType?.toLowerCase().startsWith('multipart/form-data')) return undefined
  const boundary = parseMediaType(contentType).parameters.get('boundary')
  return boundary ? formParts(body, boundary) : undefined
}
