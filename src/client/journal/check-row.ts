import { StorageError } from '../../errors/classes.ts'
import type { JournalRow, RowChange } from './port.ts'

const STATUSES: ReadonlySet<unknown> = new Set([
  'pending',
  'succeeded',
  'rejected',
  'failed',
  'expired',
  'cancelled',
] satisfies JournalRow['status'][])

/** Half of a character pair: a store that keeps UTF-8 would hand back something else. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** Refuses a row that a store could not give back exactly as it was; one rule for every journal. */
export function checkRow(row: JournalRow): void {
  insist(Number.isSafeInteger(row.version) && row.version > 0, 'version')
  insist(isText(row.namespace), 'namespace')
  insist(isText(row.key) && row.key !== '', 'key')
  insist(row.id === null || isText(row.id), 'id')
  insist(row.name === null || isText(row.name), 'name')
  insist(isText(row.origin), 'origin')
  insist(Number.isSafeInteger(row.epoch), 'epoch')
  insist(isBytesOrNull(row.body), 'body')
  checkChange(row)
}

/** The same for what `commit` writes. */
export function checkChange(change: RowChange): void {
  insist(STATUSES.has(change.status), 'status')
  insist(change.owner === null || isText(change.owner), 'owner')
  insist(Number.isFinite(change.leaseUntil), 'leaseUntil')
  insist(Number.isFinite(change.dueAt), 'dueAt')
  insist(Number.isFinite(change.notBefore), 'notBefore')
  insist(typeof change.deliveryDue === 'boolean', 'deliveryDue')
  insist(change.expiresAt === null || Number.isFinite(change.expiresAt), 'expiresAt')
  insist(typeof change.head === 'string', 'head')
  insist(isBytesOrNull(change.responseBody), 'responseBody')
}

function insist(holds: boolean, field: string): void {
  if (!holds) throw new StorageError(`The journal refuses a record whose ${field} cannot be stored`, { effect: 'none' })
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !LONE_SURROGATE.test(value)
}

function isBytesOrNull(value: unknown): boolean {
  return value === null || value instanceof Uint8Array
}
