import { StorageError } from '../../errors/classes.ts'
import { frame, unframe } from '../../foundation/byte-frame.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { RecordedAnswer } from './entry.ts'

/*
 * How an encrypted answer is stored: its status as it is, this one header, and as its body the sealed bytes of status, headers
 * and body. Stores know nothing of it, and answers from before the encryption are read as they are.
 */

/** Never stored for a handler: see `judge-answer.ts`. */
export const SEALED_HEADER = 'holdfast-sealed'
const VERSION = '1'

/** Before the base64 of a message's value. No JSON begins so. */
export const SEALED_VALUE = `${SEALED_HEADER}:${VERSION}:`

export interface SealedPlace {
  readonly scope: string
  readonly key: string
}

interface Head extends SealedPlace {
  /** Undefined in frames of earlier builds. */
  readonly status?: number
  readonly headers: HeaderList
  readonly hasBody: boolean
}

type Framed = Pick<RecordedAnswer, 'status' | 'headers' | 'body'>

/** In place of a status, for the value of a message. */
export const OF_A_MESSAGE = 0

/**
 * What is sealed. With its scope and key, so that sealed bytes that were moved to another key are not opened there, and with
 * its status, which is stored as it is, so that a change of that is noticed.
 */
export function frameAnswer({ scope, key }: SealedPlace, { status, headers, body }: Framed): Uint8Array {
  const head: Head = { scope, key, status, headers, hasBody: body !== null }
  return frame(head, body)
}

/** Throws if the bytes are no frame, or that of another key or another status than the one that is stored. */
export function unframeAnswer({ scope, key }: SealedPlace, status: number, whole: Uint8Array): Framed {
  const { head, body } = unframe(whole) as { head: Head; body: Uint8Array }
  if (head.scope !== scope || head.key !== key) throw new Error('The answer was sealed for another key')
  if (head.status !== undefined && head.status !== status) throw new Error('The answer was sealed with another status')
  return { status, headers: head.headers, body: head.hasBody ? body : null }
}

/** The stored form: `body` is the sealed frame. */
export function sealedAnswer({ status, bodyOmitted }: RecordedAnswer, body: Uint8Array): RecordedAnswer {
  return { status, headers: [[SEALED_HEADER, VERSION]], body, bodyOmitted }
}

export function isSealed({ headers }: RecordedAnswer): boolean {
  return headers.length === 1 && headers[0]?.[0] === SEALED_HEADER
}

/** `erase()` has removed it. Only its status is left, which nothing seals any more. */
export function isErased({ headers, body, bodyOmitted }: RecordedAnswer): boolean {
  return headers.length === 0 && body === null && bodyOmitted
}

/** The sealed frame. */
export function sealedBytes({ headers, body }: RecordedAnswer): Uint8Array {
  if (headers[0]?.[1] === VERSION && body) return body
  throw new StorageError('A recorded answer was encrypted by a newer version of this library', { effect: 'unknown' })
}

/** For a ledger without encryption: what was sealed must not be sent. */
export function refuseSealed(answer: RecordedAnswer | string): void {
  if (typeof answer === 'string' ? !answer.startsWith(SEALED_HEADER) : !isSealed(answer)) return
  throw new StorageError(
    'A recorded answer is encrypted, and this ledger has no option `encryption`: give it the key that it was sealed with',
    { effect: 'unknown' },
  )
}
