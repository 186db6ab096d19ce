import type { HeaderList } from './headers.ts'

/** An answer as plain values. `body` is null where it was empty or where it was too large to keep. */
export interface StoredResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  /** True where the answer had a body that was not kept. */
  readonly bodyOmitted: boolean
  /** Where the answer came from in the end, after redirects. */
  readonly url: string
  readonly redirected: boolean
}

/**
 * What of an answer is not held in memory: its body as a stream, or, for `client.fetch`, the platform's own `Response`,
 * unread.
 */
export type AnswerRest = ReadableStream<Uint8Array> | Response

/** A property decides, not the class: a custom fetch may have a Response class of its own. */
export function isResponse(rest: AnswerRest): rest is Response {
  return 'headers' in rest
}

/** A server may say 999; the constructor takes 200 to 599. */
function isConstructible(status: number): boolean {
  return status >= 200 && status <= 599
}

/** Statuses for which the Response constructor refuses a body. */
const BODILESS = new Set([101, 103, 204, 205, 304])

export function isBodiless(status: number): boolean {
  return BODILESS.has(status)
}

/** What the Response constructor takes for a reason phrase; a server may send anything. */
const REASON_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * A fresh, readable `Response`; every caller gets its own. What a hostile server put into the head and a Response can't
 * hold is left out: it must not fail the caller of an operation that was done.
 */
export function toResponse(stored: StoredResponse, rest?: AnswerRest): Response {
  if (rest && isResponse(rest)) return rest
  const body = isBodiless(stored.status) ? null : (rest ?? stored.body)
  const response = new Response(body as BodyInit | null, {
    status: isConstructible(stored.status) ? stored.status : 500,
    statusText: REASON_PHRASE.test(stored.statusText) ? stored.statusText : '',
  })
  appendAll(response.headers, stored.headers)
  // A constructed Response has no url, and refuses odd statuses; applications and SDKs read both.
  const { status, url, redirected } = stored
  return Object.defineProperties(response, {
    status: { value: status },
    url: { value: url },
    redirected: { value: redirected },
  })
}

/** The fields as `Headers`, less what those can't hold. */
export function readableHeaders(fields: HeaderList): Headers {
  const headers = new Headers()
  appendAll(headers, fields)
  return headers
}

function appendAll(headers: Headers, fields: HeaderList): void {
  for (const [name, value] of fields) {
    try {
      headers.append(name, value)
    } catch {
      // Not a name or not a value that HTTP knows.
    }
  }
}
