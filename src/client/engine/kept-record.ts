import { isCredentialField } from '../../observe/redact.ts'
import type { OperationRecord } from '../operation/record.ts'
import { release } from '../operation/transition.ts'

/** As it is written down: the answer's cookies and other secrets stay in memory. */
export function withoutSecrets(record: OperationRecord): OperationRecord {
  if (!record.response) return record
  const headers = record.response.headers.filter((field) => !isCredentialField(field))
  return { ...record, response: { ...record.response, headers } }
}

/** Must the record outlive its settlement? */
export function isKept(record: OperationRecord, mode: 'call' | 'resume'): boolean {
  if (record.id !== undefined || record.deliveryDue || record.awaited || record.status === 'failed') return true
  // Nobody was told how a resumed operation ended; where it ended badly, somebody may want to look.
  return mode === 'resume' && record.status !== 'succeeded'
}

/** A settled record that nobody works on any more. */
export function withoutLease(record: OperationRecord): OperationRecord {
  return release(record, { dueAt: record.dueAt, heldBy: undefined })
}
