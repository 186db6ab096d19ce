import type { Reason } from '../../errors/reason.ts'
import type { OperationRecord, OperationStatus } from './record.ts'
import { isOverdue, type OperationView, viewOf } from './view.ts'

/** An operation that no resume brings to success, or whose settlement no handler takes, as `deadLetters()` shows it. */
export interface DeadLetter extends OperationView {
  /** What the last attempt was answered; undefined where it was not, or where there was none. */
  readonly lastStatus: number | undefined
  /** What went wrong last: a code or words; undefined where the server answered. */
  readonly lastError: string | undefined
  /** Epoch milliseconds after which the record is deleted; undefined while it is pending or waits for its handler. */
  readonly keptUntil: number | undefined
}

/** Every operation in one of these may be a dead letter; in another, only one that no handler takes. */
export const DEAD_STATUSES: readonly OperationStatus[] = ['pending', 'rejected', 'failed', 'expired']

const PARKED_BY: readonly (Reason | undefined)[] = ['poison', 'auth']

/** Was it rejected or given up, has it expired, does it wait for a person, or has no handler taken it for too long? */
export function isDeadLetter(record: OperationRecord, now: number): boolean {
  const { status, heldBy } = record
  if (isOverdue(record, now)) return true
  return status === 'pending' ? PARKED_BY.includes(heldBy) : DEAD_STATUSES.includes(status)
}

export function deadLetterOf(record: OperationRecord, now: number): DeadLetter {
  const last = record.attempts.at(-1)
  return {
    ...viewOf(record, now),
    lastStatus: last?.status,
    lastError: record.error?.detail ?? last?.fault,
    keptUntil: record.expiresAt,
  }
}
