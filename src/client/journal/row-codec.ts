import { StorageError } from '../../errors/classes.ts'
import { CodecError, decodeRecord, encodeChange, encodeRecord } from '../operation/codec.ts'
import type { OperationRecord } from '../operation/record.ts'
import { asStorageError } from './as-storage-error.ts'
import type { JournalRow, RowChange } from './port.ts'

/** The code of a row that can't be decoded, today or later. */
export const CORRUPT = 'HOLDFAST_RECORD_CORRUPT'
const NEWER = 'HOLDFAST_RECORD_NEWER'

/** The caller's encryption of bodies at rest. Its errors reach the caller as StorageErrors. */
interface BodyCipher {
  seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
}

/** Records to rows and back, with the caller's encryption around both bodies. Without one, encoding makes no promise. */
export class RowCodec {
  readonly #encryption: BodyCipher | undefined

  constructor(encryption: BodyCipher | undefined) {
    this.#encryption = encryption
  }

  encode(record: OperationRecord): JournalRow | Promise<JournalRow> {
    const { body } = record.request
    const responseBody = record.response?.body ?? null
    // Assigned, not spread: this is on the path of every durable call.
    const row = Object.assign(encodeRecord(record), { body, responseBody })
    return this.#encryption ? seal(row, this.#encryption) : row
  }

  encodeChange(record: OperationRecord): RowChange | Promise<RowChange> {
    const change = Object.assign(encodeChange(record), { responseBody: record.response?.body ?? null })
    return this.#encryption ? seal(change, this.#encryption) : change
  }

  /** Rejects with a StorageError; its code is CORRUPT only where no other version or encryption could read the row. */
  async decode(row: JournalRow): Promise<OperationRecord> {
    try {
      const { body, responseBody } = row
      const by = this.#encryption
      if (!by) return decodeRecord(row, row)
      return decodeRecord(row, {
        body: body && (await by.open(body)),
        responseBody: responseBody && (await by.open(responseBody)),
      })
    } catch (error) {
      if (error instanceof CodecError) {
        throw new StorageError(error.message, { code: error.kind === 'corrupt' ? CORRUPT : NEWER, effect: 'unknown' })
      }
      // Sealed with another key, say: the operation is there, and may have been done.
      const { message } = asStorageError(error, `Record ${row.key} could not be opened`)
      throw new StorageError(message, { effect: 'unknown', cause: error, operation: { key: row.key } })
    }
  }
}

async function seal<Row extends RowChange>(row: Row & { body?: Uint8Array | null }, by: BodyCipher): Promise<Row> {
  const { body, responseBody } = row
  try {
    if (body) row.body = await by.seal(body)
    return { ...row, responseBody: responseBody && (await by.seal(responseBody)) }
  } catch (error) {
    throw asStorageError(error, 'The body could not be sealed', 'none')
  }
}
