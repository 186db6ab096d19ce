import type { HeaderList } from '../../protocol/headers.ts'
import { PROBLEM } from '../../protocol/problem-details.ts'

export type RefusalReason =
  | 'body-too-large'
  | 'key-missing'
  | 'key-malformed'
  | 'key-reused'
  | 'in-flight'
  | 'outcome-unknown'
  | 'window-passed'
  | 'quota-exceeded'
  | 'unavailable'
  | 'written-by-newer'
  | 'other-version'

/** Why a request was refused, as RFC 9457 has it. */
export interface Problem {
  /** Stable: `urn:holdfast:problem:key-reused`. */
  readonly type: string
  readonly status: number
  readonly title: string
  /** A sentence for the author of the client. */
  readonly detail: string
}

interface RefusalText extends Problem {
  /** Seconds. */
  readonly retryAfter?: number
}

/** An answer in place of the handler's. */
export interface Refusal {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
  readonly problem: Problem
}

const REFUSALS: Readonly<Record<RefusalReason, RefusalText>> = {
  'body-too-large': {
    type: PROBLEM.bodyTooLarge,
    status: 413,
    title: 'Body too large',
    detail: 'The body of this request is larger than this service accepts. Nothing was done.',
  },
  'key-missing': {
    type: PROBLEM.keyMissing,
    status: 400,
    title: 'Idempotency key missing',
    detail:
      'This operation needs an Idempotency-Key header: one random UUID per logical operation, the same one for each retry.',
  },
  'key-malformed': {
    type: PROBLEM.keyMalformed,
    status: 400,
    title: 'Idempotency key malformed',
    detail:
      'An idempotency key is 1 to 255 visible ASCII characters, bare or as a quoted string that may have blanks, given once.',
  },
  'key-reused': {
    type: PROBLEM.keyReused,
    status: 422,
    title: 'Idempotency key reused',
    detail:
      'This idempotency key was used with a different request. Use a new key for a new operation; repeat the request for a retry.',
  },
  'in-flight': {
    type: PROBLEM.inFlight,
    status: 409,
    title: 'Operation in flight',
    detail: 'The first request with this key is still in flight. Retry with the same key.',
    retryAfter: 1,
  },
  'outcome-unknown': {
    type: PROBLEM.outcomeUnknown,
    status: 409,
    title: 'Outcome unknown',
    detail:
      'The first request with this key was interrupted and may have been done. It is not run again until its outcome is known.',
    retryAfter: 60,
  },
  'window-passed': {
    type: PROBLEM.windowPassed,
    status: 412,
    title: 'First sent too long ago',
    detail:
      'This operation was first sent before the dedup window, so it may have been done already. It is not run again.',
  },
  'quota-exceeded': {
    type: PROBLEM.quotaExceeded,
    status: 429,
    title: 'Too many idempotency keys',
    detail:
      'As many idempotency keys as this caller may have are remembered already, so no new operation is begun. Nothing was ' +
      'done. Retry later with the same key.',
    retryAfter: 60,
  },
  unavailable: {
    type: PROBLEM.unavailable,
    status: 503,
    title: 'Ledger unavailable',
    detail: 'The idempotency ledger cannot be reached right now. Retry with the same key.',
    retryAfter: 1,
  },
  'written-by-newer': {
    type: PROBLEM.unavailable,
    status: 503,
    title: 'Ledger unavailable',
    detail: 'The entry of this key was written by a newer version of this service. Retry with the same key.',
    retryAfter: 5,
  },
  'other-version': {
    type: PROBLEM.unavailable,
    status: 503,
    title: 'Ledger unavailable',
    detail:
      'Another version of this service has claimed this key, so this request cannot be compared with the first one. ' +
      'Retry with the same key.',
    retryAfter: 5,
  },
}

const encoder = new TextEncoder()

/** As RFC 9457 problem details. */
export function refusal(reason: RefusalReason): Refusal {
  const { retryAfter, ...problem } = REFUSALS[reason]
  const headers: [string, string][] = [['content-type', 'application/problem+json']]
  if (retryAfter !== undefined) headers.push(['retry-after', String(retryAfter)])
  return { status: problem.status, headers, body: encoder.encode(JSON.stringify(problem)), problem }
}

/**
 * For a request that may have been done. Without `Retry-After`: clients take a 503 with it for a request that was not
 * begun.
 */
export function inDoubtRefusal(): Refusal {
  const refused = refusal('unavailable')
  return { ...refused, headers: refused.headers.filter(([name]) => name !== 'retry-after') }
}

export function isRefusal(answer: object): answer is Refusal {
  return 'problem' in answer
}

/** The address of a problem's page: `base` and the last part of the problem's type. */
export function problemPage({ type }: Problem, base: string): string {
  return `${base}${type.slice(type.lastIndexOf(':') + 1)}`
}

/** A refusal in the words of an API. Headers that the words don't name stay; a status below 400 is not taken over. */
export function reworded(
  refused: Refusal,
  given: Omit<Refusal, 'body' | 'problem'> & { readonly body: Uint8Array | null },
) {
  const named = new Set(['content-type', ...given.headers.map(([name]) => name)])
  const kept = refused.headers.filter(([name]) => !named.has(name))
  const status = given.status < 400 ? refused.status : given.status
  return { status, headers: [...kept, ...given.headers], body: given.body }
}
