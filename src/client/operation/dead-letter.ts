import type { Reason } from '../../errors/reason.ts'
import type { OperationRecord, OperationStatus } from './record.ts'
import { type OperationView, viewOf } from './view.ts'

/** An operation that no resume brings to success any more, as `deadLetters()` shows it. */
export interface DeadLetter extends OperationView {
  /** What the last attempt was answered; undefined where it was not, or where there was none. */
  readonly lastStatus: number | undefined
  /** What went wrong last: a code or words; undefined where the server answered. */
  readonly lastError: string | undefined
  /** Epoch milliseconds after which the record is deleted; undefined while it is pending. */
  readonly keptUntil: number | undefined
}

/** The statuses that a dead letter can have. */
export const DEAD_STATUSES: readonly OperationStatus[] = ['pending', 'rejected', 'failed', 'expired']

const PARKED_BY: readonly (Reason | undefined)[] = ['poison', 'auth']

/** Was it rejected or given up, has it expired, or does it wait for a person? */
export function isDeadLetter({ status, heldBy }: OperationRecord): boolean {
  return status === 'pending' ? PARKED_BY.includes(heldBy) : DEAD_STATUSES.includes(status)
}

export function deadLetterOf(record: OperationRecord): DeadLetter {
  const last = record.attempts.at(-1)
  return {
    ...viewOf(record),
    lastStatus: last?.status,
    lastError: record.error?.detail ?? last?.fault,
    keptUntil: record.expiresAt,
  }
}
