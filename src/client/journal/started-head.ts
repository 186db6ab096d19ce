import type { OperationRecord } from '../operation/record.ts'
import type { ClaimDue, ClaimedRow, JournalRow } from './port.ts'

/*
 * A claim of what is sent at once puts its attempt on record with the same write, in the head of the row: another write for
 * each operation would be a third of what it costs a journal.
 */

/** Of two names that are the same, JSON takes the last. */
export const HEAD_IN_FLIGHT = '"inFlightSince":'
export const HEAD_IGNORES_KEYS = '"honoursKeys":false'

export type SentAtOnce = Pick<ClaimDue, 'now' | 'starts'>

/**
 * The head of a row as a claim leaves it. It stays where an attempt needs a write of its own: another one may be in flight, or the
 * server ignores keys, and nothing that has not left must look as if it may have been done. A text that looks like it, in
 * `metadata`, costs that write, no more.
 */
export function claimedHead({ status, owner, head }: JournalRow, { starts, now }: SentAtOnce): string {
  if (!starts || status !== 'pending' || owner !== null || !head.endsWith('}')) return head
  if (head.includes(HEAD_IN_FLIGHT) || head.includes(HEAD_IGNORES_KEYS)) return head
  return `${head.slice(0, -1)},${HEAD_IN_FLIGHT}${now}}`
}

/**
 * Is the attempt on record that of the claim? One that a runner before left open is as old as that. Of a claim whose answer was
 * lost, the claimant itself is the runner before.
 */
export function claimedRecord(
  { starts, now, owner }: SentAtOnce & Pick<ClaimDue, 'owner'>,
  { place, previousOwner }: ClaimedRow,
  record: OperationRecord,
) {
  const isOurs = previousOwner === null || previousOwner === owner
  return { place, record, previousOwner, isStarted: starts === true && record.inFlightSince === now && isOurs }
}
