import { StorageError } from '../../errors/classes.ts'
import { CodecError, decodeRecord, encodeChange, encodeRecord } from '../operation/codec.ts'
import type { OperationRecord, OperationStatus } from '../operation/record.ts'
import type { Encryption } from '../options.ts'
import { asStorageError, unknowing } from './as-storage-error.ts'
import { BodySeal } from './body-seal.ts'
import { GroupCommit } from './group-commit.ts'
import { LevelRows, type LevelSource } from './level-rows.ts'
import { persistIn } from './persist-in.ts'
import type {
  Claim,
  Claimant,
  ClaimedRow,
  DurabilityLevel,
  Fence,
  Journal,
  JournalCommand,
  JournalRow,
  NextDue,
  PlacedRow,
  ResultOf,
} from './port.ts'

export type AppendOutcome =
  | { readonly appended: true }
  | { readonly appended: false; readonly existing: () => Promise<OperationRecord> }

/** A record with its place in the order of acceptance. */
export interface PlacedRecord {
  readonly place: number
  readonly record: OperationRecord
}

/** A record whose lease has just been taken, and who held it until now. */
export interface ClaimedRecord extends PlacedRecord {
  readonly previousOwner: string | null
}

const CORRUPT = 'HOLDFAST_RECORD_CORRUPT'
const NEWER = 'HOLDFAST_RECORD_NEWER'

/** Told of each row that cannot be decoded. */
export type UnreadableListener = (error: StorageError, key: string) => void

export interface KeeperTerms {
  readonly encryption?: Encryption | undefined
  readonly onUnreadable: UnreadableListener
  /** What is known of the origins is kept beside the records. */
  readonly levels?: LevelSource | undefined
  /** How writes wait for others that are ready to share their transaction. */
  readonly turn?: (() => Promise<void>) | undefined
}

/** Keeps records in a journal: encodes, seals bodies, groups writes, and sets aside what cannot be read. */
export class RecordKeeper {
  readonly #journal: Journal
  readonly #writes: GroupCommit
  readonly #bodies: BodySeal
  readonly #onUnreadable: UnreadableListener
  readonly #levels: LevelRows
  #opening: Promise<void> | undefined
  #opened = false

  constructor(journal: Journal, terms: KeeperTerms) {
    this.#journal = journal
    this.#writes = new GroupCommit(journal, terms.turn)
    this.#bodies = new BodySeal(terms.encryption)
    this.#onUnreadable = terms.onUnreadable
    this.#levels = new LevelRows(terms.levels)
  }

  get level(): DurabilityLevel {
    return this.#journal.level
  }

  get opened(): boolean {
    return this.#opened
  }

  async #ask<C extends JournalCommand>(command: C): Promise<ResultOf<C>> {
    try {
      return await this.#writes.run(command)
    } catch (error) {
      throw unknowing(error as StorageError)
    }
  }

  /** Opens once; a failed opening may be tried again. */
  open(): Promise<void> {
    this.#opening ??= this.#journal.open().then(
      async () => {
        await this.#levels.read(this.#journal)
        this.#opened = true
      },
      (error: unknown) => {
        this.#opening = undefined
        throw unknowing(asStorageError(error, 'The journal could not be opened'))
      },
    )
    return this.#opening
  }

  async append(record: OperationRecord): Promise<AppendOutcome> {
    const encoded = this.encode(record)
    const row = encoded instanceof Promise ? await encoded : encoded
    const result = await this.#writes.run({ do: 'append', row })
    return result.appended ? result : { appended: false, existing: () => this.#decode(result.existing) }
  }

  /** False: the lease is not ours any more, and nothing was written. */
  async commit(record: OperationRecord, fence: Fence): Promise<boolean> {
    const columns = encodeChange(record)
    const responseBody = await this.#bodies.seal(record.response?.body ?? null)
    const written = this.#ask({ do: 'commit', ...fence, change: { ...columns, responseBody } })
    this.#levels.rideAlong(this.#writes)
    return written
  }

  remove(fence: Fence): Promise<boolean> {
    return this.#ask({ do: 'remove', ...fence })
  }

  renew(fence: Fence, leaseUntil: number): Promise<boolean> {
    return this.#ask({ do: 'renew', ...fence, leaseUntil })
  }

  /** Claims in order; a row that cannot be decoded is set aside and left out, but `last` moves past it. */
  async claim(command: Omit<Claim, 'do'>): Promise<{ claimed: ClaimedRecord[]; last: number }> {
    const rows = await this.#ask({ do: 'claim', ...command })
    const claimed: ClaimedRecord[] = []
    for (const row of rows) {
      const { namespace, key } = row
      // Only what is corrupt: a newer record, or one sealed with another key, may be readable tomorrow.
      const setAside = (): Promise<unknown> => this.#ask({ do: 'set-aside', namespace, key })
      const record = await this.#decodeOrReport(row, setAside)
      if (record) claimed.push({ place: row.place, record, previousOwner: row.previousOwner })
    }
    return { claimed, last: rows.at(-1)?.place ?? command.after }
  }

  async claimOne(
    claimant: Claimant,
    key: string,
    statuses: readonly OperationStatus[],
  ): Promise<ClaimedRecord | undefined> {
    const row: ClaimedRow | undefined = await this.#ask({ do: 'claim-one', ...claimant, key, statuses })
    return row && { place: row.place, record: await this.#decode(row), previousOwner: row.previousOwner }
  }

  async read(namespace: string, keyOrId: string): Promise<OperationRecord | undefined> {
    const row = await this.#ask({ do: 'read', namespace, keyOrId })
    return row && this.#decode(row)
  }

  /** Where a record stands in the order of acceptance. */
  async placeOf(namespace: string, keyOrId: string): Promise<number | undefined> {
    const row = await this.#ask({ do: 'read', namespace, keyOrId })
    return row?.place
  }

  async list(query: { namespace: string; status: OperationStatus | undefined; after: number; limit: number }): Promise<{
    records: PlacedRecord[]
    last: number
    more: boolean
  }> {
    const rows = await this.#ask({ do: 'list', ...query })
    const records: PlacedRecord[] = []
    for (const row of rows) {
      const record = await this.#decodeOrReport(row)
      if (record) records.push({ place: row.place, record })
    }
    return { records, last: rows.at(-1)?.place ?? query.after, more: rows.length === query.limit }
  }

  owners(namespace: string, now: number): Promise<string[]> {
    return this.#ask({ do: 'owners', namespace, now })
  }

  nextDue(wanted: Omit<NextDue, 'do'>): Promise<number | undefined> {
    return this.#ask({ do: 'next-due', ...wanted })
  }

  forget(namespace: string): Promise<number> {
    return this.#ask({ do: 'forget', namespace })
  }

  prune(now: number, limit: number): Promise<number> {
    return this.#ask({ do: 'prune', now, limit })
  }

  /** A row ready to be written in somebody else's transaction. */
  encode(record: OperationRecord): JournalRow | Promise<JournalRow> {
    const { body } = record.request
    const responseBody = record.response?.body ?? null
    // Assigned, not spread: this is on the path of every durable call.
    if (this.#bodies.isOpen) return Object.assign(encodeRecord(record), { body, responseBody })
    return this.#encodeSealed(record)
  }

  async #encodeSealed(record: OperationRecord): Promise<JournalRow> {
    const body = await this.#bodies.seal(record.request.body)
    const responseBody = await this.#bodies.seal(record.response?.body ?? null)
    return { ...encodeRecord(record), body, responseBody }
  }

  persistIn(transaction: unknown, row: JournalRow): void | Promise<void> {
    return persistIn(this.#journal, transaction, row)
  }

  /** Resolves once every write that was asked for has been made. */
  idle(): Promise<void> {
    return this.#writes.idle()
  }

  async close(): Promise<void> {
    await this.#writes.idle()
    await this.#journal.close()
  }

  async #decodeOrReport(row: PlacedRow, onCorrupt?: () => Promise<unknown>): Promise<OperationRecord | undefined> {
    try {
      return await this.#decode(row)
    } catch (error) {
      if ((error as StorageError).code === CORRUPT) await onCorrupt?.()
      this.#onUnreadable(error as StorageError, row.key)
      return undefined
    }
  }

  async #decode(row: PlacedRow): Promise<OperationRecord> {
    try {
      const body = await this.#bodies.open(row.body)
      const responseBody = await this.#bodies.open(row.responseBody)
      return decodeRecord(row, { body, responseBody })
    } catch (error) {
      if (error instanceof CodecError) {
        throw new StorageError(error.message, { code: error.kind === 'corrupt' ? CORRUPT : NEWER, effect: 'unknown' })
      }
      // Sealed with another key, say: it is there, and may have been done.
      const { message } = asStorageError(error, `Record ${row.key} could not be opened`)
      throw new StorageError(message, { effect: 'unknown', cause: error, operation: { key: row.key } })
    }
  }
}
