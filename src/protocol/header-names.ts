import { type HeaderList, headerValue, saysTrue } from './headers.ts'

/** Every header that the two halves say to each other, in lower case as header lists have them. */
export const HEADER = {
  idempotencyKey: 'idempotency-key',
  idempotencyReplayed: 'idempotency-replayed',
  /** `omitted` on a replay: the answer had a body that was too large to keep. */
  idempotencyBody: 'idempotency-body',
  /** The server's dedup window, in seconds. */
  idempotencyRetention: 'idempotency-retention',
  doNotRetry: 'do-not-retry',
  holdfastAttempt: 'holdfast-attempt',
  /** What is left of the caller's deadline, in milliseconds. */
  requestTimeoutMs: 'request-timeout-ms',
  /** OASIS Repeatable Requests: when the operation was accepted, as an HTTP date. */
  repeatabilityFirstSent: 'repeatability-first-sent',
} as const

/** Under these names servers say that an answer is a recorded one; ours says the first. */
export const REPLAY_MARKERS: readonly string[] = [
  HEADER.idempotencyReplayed,
  'idempotent-replayed',
  'idempotency-replay',
  'x-idempotent-replayed',
  'x-idempotency-replayed',
]

/** For how long the server says that it remembers a key (milliseconds). A value that makes no sense counts as absent. */
export function readRetention(headers: HeaderList): number | undefined {
  const value = headerValue(headers, HEADER.idempotencyRetention)?.trim() ?? ''
  return (/^\d{1,12}$/.test(value) && Number(value) * 1000) || undefined
}

/** Does a ledger say that it has kept the answer, but not its body? */
export function isBodyOmitted(headers: HeaderList): boolean {
  return headerValue(headers, HEADER.idempotencyBody) === 'omitted'
}

/** Is this the recorded answer of an earlier attempt? */
export function isReplayed(headers: HeaderList): boolean {
  for (const [name, value] of headers) if (REPLAY_MARKERS.includes(name) && saysTrue(value)) return true
  return false
}
