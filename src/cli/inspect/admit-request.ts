import { createHash, timingSafeEqual } from 'node:crypto'

/*
 * Which requests the inspector answers. Other programs and pages of the same machine reach its port too: each rule
 * refuses one of them.
 */

/** What of a request decides. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
  readonly contentType: string | undefined
}

export interface AdmissionTerms {
  readonly port: number
  readonly token: string
  readonly readOnly: boolean
}

export interface Refusal {
  readonly status: 401 | 403 | 405 | 415
  readonly error: string
}

/** Undefined: it may go on. */
export function refuseRequest(head: RequestHead, terms: AdmissionTerms): Refusal | undefined {
  const hosts = [`127.0.0.1:${terms.port}`, `localhost:${terms.port}`]
  // DNS rebinding: a page's own name that now leads to this machine still stands in `Host`.
  if (!head.host || !hosts.includes(head.host.toLowerCase()))
    return { status: 403, error: 'Another host was asked for.' }
  const isRead = head.method === 'GET' || head.method === 'HEAD'
  // The files of the page are no secret: they hold no data and no token.
  if (!head.path.startsWith('/api/')) return isRead ? undefined : { status: 405, error: 'Only GET and HEAD.' }
  if (!isToken(head.authorization, terms.token)) return { status: 401, error: 'The token is missing or wrong.' }
  if (isRead) return undefined
  return refuseChange(head, terms)
}

/** A change comes from the inspector's own page: of another one the browser tells the origin. */
function refuseChange({ method, host, origin, contentType }: RequestHead, terms: AdmissionTerms): Refusal | undefined {
  if (method !== 'POST') return { status: 405, error: 'Only GET, HEAD and POST.' }
  if (terms.readOnly) return { status: 403, error: 'This inspector is read-only.' }
  if (origin !== `http://${host}`) return { status: 403, error: 'A change must come from the page of the inspector.' }
  if (contentType !== 'application/json') return { status: 415, error: 'A change is sent as application/json.' }
  return undefined
}

/** Digests have one length, so that the comparison takes the same time for each guess. */
function isToken(authorization: string | undefined, token: string): boolean {
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
