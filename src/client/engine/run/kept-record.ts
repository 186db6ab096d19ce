import { isCredentialField } from '../../../observe/redact.ts'
import type { OperationRecord } from '../../operation/record.ts'
import { release } from '../../operation/transition.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from './live-operation.ts'

/** Writes the record as it is. False: the lease is lost, nothing was written. */
export function saveRecord(
  { keeper }: Pick<Engine, 'keeper'>,
  { record, fence }: LiveOperation,
  { durable }: Pick<Call, 'durable'>,
): true | Promise<boolean> {
  return !durable || keeper.commit(withoutSecrets(record), fence)
}

/** As it is written down: the answer's cookies and other secrets stay in memory. */
export function withoutSecrets(record: OperationRecord): OperationRecord {
  if (!record.response) return record
  const headers = record.response.headers.filter((field) => !isCredentialField(field))
  return { ...record, response: { ...record.response, headers } }
}

/** Long enough for a late second use of the key, and for a look at the result, to find it. */
export const SHORTEST_RETENTION_MS = 60_000

/**
 * How long the record of a settled operation is kept. With an id, or while a handler or a caller elsewhere has yet to
 * take the settlement: for `retention`. A failed one at least until its horizon: so long it can be retried by its key.
 */
export function expiryOf({ retentionMs }: Pick<ResolvedOptions, 'retentionMs'>, record: OperationRecord): number {
  const { settledAt = 0, id, deliveryDue, awaited, status, horizonAt } = record
  if (id !== undefined || deliveryDue || awaited) return settledAt + retentionMs
  const shortest = settledAt + SHORTEST_RETENTION_MS
  return status === 'failed' ? Math.max(shortest, horizonAt) : shortest
}

/** A settled record that no runner works on any more. */
export function withoutLease(record: OperationRecord): OperationRecord {
  return release(record, { dueAt: record.dueAt, heldBy: undefined })
}
