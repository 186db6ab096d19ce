import type { JournalRow, PlacedRow, RowChange } from '../port.ts'
import { LARGE_BODY_BYTES } from './sqlite-schema.ts'

/** A row as SQLite gives it back: flags as 0 and 1, bytes as the driver's own kind. */
type StoredRow = Omit<PlacedRow, 'deliveryDue'> & { readonly deliveryDue: number }

export function isLarge(body: Uint8Array | null): body is Uint8Array {
  return body !== null && body.byteLength > LARGE_BODY_BYTES
}

/** In the order of the columns of `append`. */
export function appendValues(row: JournalRow): unknown[] {
  const apart = isLarge(row.body)
  return [
    row.version,
    row.namespace,
    row.key,
    row.id,
    row.name,
    row.origin,
    row.status,
    row.owner,
    row.epoch,
    row.leaseUntil,
    row.dueAt,
    row.notBefore,
    Number(row.deliveryDue),
    row.expiresAt,
    Number(apart),
    row.head,
    apart ? null : row.body,
    row.responseBody,
  ]
}

/** In the order of the columns of `commit`. */
export function changeValues(change: RowChange): unknown[] {
  return [
    change.status,
    change.owner,
    change.leaseUntil,
    change.dueAt,
    change.notBefore,
    Number(change.deliveryDue),
    change.expiresAt,
    change.head,
    change.responseBody,
  ]
}

export function rowFrom(stored: unknown): PlacedRow
export function rowFrom(stored: unknown | undefined): PlacedRow | undefined
export function rowFrom(stored: unknown): PlacedRow | undefined {
  if (stored === undefined) return undefined
  const row = stored as StoredRow
  return {
    ...row,
    deliveryDue: row.deliveryDue === 1,
    body: plainBytes(row.body),
    responseBody: plainBytes(row.responseBody),
  }
}

/** Without Node's Buffer around them, as every journal hands bytes out. */
function plainBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
