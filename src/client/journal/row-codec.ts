import { StorageError } from '../../errors/classes.ts'
import type { Encryption } from '../../foundation/encryption.ts'
import { REDACTOR, type Redactor } from '../../observe/redact.ts'
import { CodecError, decodeRecord, encodeChange, encodeRecord, storedBodiesOf } from '../operation/codec.ts'
import type { Fingerprints } from '../operation/fingerprints.ts'
import { BODILESS_STATUSES, type OperationRecord } from '../operation/record.ts'
import { asStorageError } from './as-storage-error.ts'
import type { JournalRow, RowChange } from './port.ts'
import { type BodyPlace, frameBody, unframeBody } from './sealed-body.ts'

/** The code of a row that can't be decoded, today or later. */
export const CORRUPT = 'HOLDFAST_RECORD_CORRUPT'
const NEWER = 'HOLDFAST_RECORD_NEWER'

export interface RowCodecTerms {
  /** The caller's, around both bodies. Its errors reach the caller as StorageErrors. */
  readonly encryption?: Encryption | undefined
  /** Knows which headers of an answer are not written down. */
  readonly redactor?: Redactor | undefined
  /** Undefined: what is read is only shown, never sent, and is not compared with its fingerprint. */
  readonly fingerprints?: Fingerprints | undefined
}

/** `unsent`: without the request's body, which nobody needs to open for what is never sent again. */
export type RecordPart = 'whole' | 'unsent'

/** Records to rows and back. Without an encryption, encoding makes no promise. */
export class RowCodec {
  readonly #encryption: Encryption | undefined
  readonly #fingerprints: Fingerprints | undefined
  readonly #redactor: Redactor

  constructor({ encryption, fingerprints, redactor = REDACTOR }: RowCodecTerms) {
    this.#encryption = encryption
    this.#redactor = redactor
    this.#fingerprints = fingerprints
  }

  encode(given: OperationRecord): JournalRow | Promise<JournalRow> {
    const record = this.#withoutSecrets(given)
    const { body } = record.request
    const responseBody = record.response?.body ?? null
    // Assigned, not spread: this is on the path of every durable call.
    if (!this.#encryption) return Object.assign(encodeRecord(record, 'plain'), { body, responseBody })
    const row = Object.assign(encodeRecord(record, 'sealed'), { body, responseBody })
    return seal(row, record, this.#encryption)
  }

  encodeChange(given: OperationRecord): RowChange | Promise<RowChange> {
    const record = this.#withoutSecrets(given)
    const responseBody = record.response?.body ?? null
    if (!this.#encryption) return Object.assign(encodeChange(record, 'plain'), { responseBody })
    return seal(Object.assign(encodeChange(record, 'sealed'), { responseBody }), record, this.#encryption)
  }

  /** The answer's cookies and other secrets stay in memory. */
  #withoutSecrets(record: OperationRecord): OperationRecord {
    const { response } = record
    // Few answers have any, and a record has many fields to copy.
    if (!response?.headers.some(this.#redactor.isField)) return record
    const headers = response.headers.filter((field) => !this.#redactor.isField(field))
    return { ...record, response: { ...response, headers } }
  }

  /** Rejects with a StorageError; its code is CORRUPT only where no other version or encryption could read the row. */
  async decode(row: JournalRow): Promise<OperationRecord> {
    try {
      return decodeRecord(row, this.#encryption ? await open(row, this.#encryption) : row)
    } catch (error) {
      throw unreadable(row, error)
    }
  }

  /** As `decode`, for a record whose request may be sent: its method, URL and body are those that were accepted. */
  async decodeChecked(given: JournalRow, part: RecordPart = 'whole'): Promise<OperationRecord> {
    const row = part === 'whole' ? given : { ...given, body: null }
    const record = await this.decode(row)
    const fingerprints = this.#fingerprints
    if (!fingerprints) return record
    if (!this.#encryption && row.responseBody && storedBodiesOf(row).response === 'sealed')
      throw unreadable(row, new Error(SEALED))
    if (part === 'unsent' || hasLetGo(record)) return record
    if (await fingerprints.isOf(record.fingerprint, record.request)) {
      return { ...record, fingerprint: await fingerprints.of(record.request) }
    }
    throw unreadable(row, (await this.#isOurs(row, fingerprints)) ? changed(row) : new Error(SEALED))
  }

  /** Does this client know how to read the row's body? Then the body was changed, and is not just sealed otherwise. */
  async #isOurs(row: JournalRow, fingerprints: Fingerprints): Promise<boolean> {
    if (!fingerprints.canCompare(JSON.parse(row.head).fingerprint)) return false
    const bodies = storedBodiesOf(row).request
    if (bodies === undefined || bodies === 'plain' || row.body === null) return bodies !== undefined
    if (!this.#encryption) return false
    const { is } = unframeBody(placeOf(row, 'request'), await this.#encryption.open(row.body))
    return is === 'framed'
  }
}

const SEALED = 'its body was sealed by an `encryption` that this client does not have, or was changed since'

/** Nothing more is sent of it, and its body was dropped. */
function hasLetGo({ request, status }: OperationRecord): boolean {
  return request.body === null && BODILESS_STATUSES.includes(status)
}

function changed({ key }: JournalRow): CodecError {
  return new CodecError('corrupt', `Record ${key} is not what was accepted: its request does not match its fingerprint`)
}

function unreadable(row: JournalRow, error: unknown): StorageError {
  const pending = row.status === 'pending'
  if (error instanceof CodecError) {
    const code = error.kind === 'corrupt' ? CORRUPT : NEWER
    return new StorageError(error.message, { code, effect: 'unknown', pending })
  }
  // Sealed with another key, say: the operation is there, and may have been done.
  const { message } = asStorageError(error, `Record ${row.key} could not be opened`)
  return new StorageError(message, { effect: 'unknown', pending, cause: error, operation: { key: row.key } })
}

type Placed = Pick<BodyPlace, 'namespace' | 'key'>

function placeOf({ namespace, key }: Placed, part: BodyPlace['part']): BodyPlace {
  return { namespace, key, part }
}

async function seal<Row extends RowChange>(
  row: Row & { body?: Uint8Array | null },
  record: OperationRecord,
  by: Encryption,
): Promise<Row> {
  const { body, responseBody } = row
  try {
    if (body && record.bodies !== 'plain') row.body = await by.seal(frameBody(placeOf(record, 'request'), body))
    return {
      ...row,
      responseBody: responseBody && (await by.seal(frameBody(placeOf(record, 'response'), responseBody))),
    }
  } catch (error) {
    throw asStorageError(error, 'The body could not be sealed', 'none')
  }
}

/**
 * A body from before the encryption is read as it is. If somebody marks a sealed body as such a one, the fingerprint does not
 * match: with a secret, nobody else can make it.
 */
async function open(row: JournalRow, by: Encryption): Promise<Pick<JournalRow, 'body' | 'responseBody'>> {
  const stored = storedBodiesOf(row)
  const one = async (part: BodyPlace['part'], bytes: Uint8Array | null): Promise<Uint8Array | null> => {
    if (!bytes || stored[part] === 'plain') return bytes
    const opened = unframeBody(placeOf(row, part), await by.open(bytes))
    if (opened.is !== 'elsewhere') return opened.body
    throw new CodecError('corrupt', `Record ${row.key} is not what was accepted: its ${part} belongs to another record`)
  }
  return { body: await one('request', row.body), responseBody: await one('response', row.responseBody) }
}
