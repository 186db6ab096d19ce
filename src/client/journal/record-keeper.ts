import type { StorageError } from '../../errors/classes.ts'
import type { QueueTerms } from '../../foundation/command-queue.ts'
import type { OperationRecord } from '../operation/record.ts'
import { asStorageError, unknowing } from './as-storage-error.ts'
import { GroupCommit, type JournalQueue } from './group-commit.ts'
import { type LevelSource, levelCommands, readLevels } from './level-rows.ts'
import { persistIn } from './persist-in.ts'
import type {
  AppendResult,
  Claimant,
  ClaimByKey,
  ClaimDue,
  ClaimedRow,
  DurabilityLevel,
  Fence,
  Journal,
  JournalCommand,
  JournalRow,
  List,
  ResultOf,
  RowChange,
  Survey,
  SurveyResult,
} from './port.ts'
import { CORRUPT, type RecordPart, RowCodec, type RowCodecTerms } from './row-codec.ts'
import { claimedRecord } from './started-head.ts'

export type AppendOutcome =
  | { readonly appended: true }
  | { readonly appended: false; readonly existing: () => Promise<OperationRecord> }

/** A record with its place in the order of acceptance. */
export interface PlacedRecord {
  readonly place: number
  readonly record: OperationRecord
}

/** A record whose lease has just been taken, and the runner that held it until now. */
export interface ClaimedRecord extends PlacedRecord {
  readonly previousOwner: string | null
  /** The claim has put an attempt on record that begins now. */
  readonly isStarted?: boolean
}

export type ClaimWish = Pick<ClaimByKey, 'key' | 'statuses'> & { readonly part?: RecordPart }

/** Called with each row that cannot be decoded. */
export type UnreadableListener = (error: StorageError, key: string) => void

export interface KeeperTerms extends QueueTerms, RowCodecTerms {
  readonly onUnreadable: UnreadableListener
  readonly onOpened?: (() => void) | undefined
  /** What is known of the origins is kept beside the records. */
  readonly levels?: LevelSource | undefined
}

const ignore = (): void => {}

/** The engine's journal: records instead of rows, writes in groups, and unreadable rows set aside. */
export class RecordKeeper {
  /** For what is no record: what is known of the origins. */
  readonly journal: Journal
  readonly #writes: JournalQueue
  readonly #codec: RowCodec
  readonly #terms: KeeperTerms
  #opening: Promise<void> | undefined
  #opened = false

  constructor(journal: Journal, terms: KeeperTerms) {
    this.journal = journal
    this.#writes = journal.queue?.(terms) ?? new GroupCommit(journal, terms)
    this.#codec = new RowCodec(terms)
    this.#terms = terms
  }

  get level(): DurabilityLevel {
    return this.journal.level
  }

  get opened(): boolean {
    return this.#opened
  }

  /** Opens once; a failed opening may be tried again. */
  open(): Promise<void> {
    // A journal of the caller's own may throw in place of rejecting.
    const open = async (): Promise<void> => this.journal.open()
    this.#opening ??= open().then(
      async () => {
        if (this.#terms.levels) await readLevels(this.journal, this.#terms.levels)
        this.#opened = true
        this.#terms.onOpened?.()
      },
      (error: unknown) => {
        this.#opening = undefined
        throw unknowing(asStorageError(error, 'The journal could not be opened'))
      },
    )
    return this.#opening
  }

  append(record: OperationRecord): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const existing = (row: JournalRow) => () => this.#codec.decodeChecked(row)
      const answer = (result: AppendResult): void =>
        resolve(result?.appended ? result : { appended: false, existing: existing(result.existing) })
      const push = (row: JournalRow): void =>
        this.#writes.push({ command: { do: 'append', row }, resolve: answer, reject })
      const row = this.#codec.encode(record)
      if (row instanceof Promise) row.then(push, reject)
      else push(row)
    })
  }

  /** False: the lease is lost, and nothing was written. */
  commit(record: OperationRecord, fence: Fence): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const refuse = (error: StorageError): void => reject(unknowing(error))
      const push = (change: RowChange): void => {
        this.#writes.push({ command: { do: 'write', ...fence, change }, resolve, reject: refuse })
        // What has changed of the levels rides along.
        for (const level of this.#terms.levels?.takeChanged() ?? []) {
          for (const command of levelCommands(level)) this.#writes.push({ command, resolve: ignore, reject: ignore })
        }
      }
      const change = this.#codec.encodeChange(record)
      if (change instanceof Promise) change.then(push, reject)
      else push(change)
    })
  }

  remove(fence: Fence): Promise<boolean> {
    return this.#ask({ do: 'write', ...fence, change: 'remove' })
  }

  renew(fence: Fence, leaseUntil: number): Promise<boolean> {
    return this.#ask({ do: 'write', ...fence, change: { leaseUntil } })
  }

  /** Claims in order; a row that cannot be decoded is set aside and left out, but `last` moves past it. */
  async claim(command: Omit<ClaimDue, 'do'>): Promise<{ claimed: ClaimedRecord[]; last: number }> {
    const rows = await this.#ask({ do: 'claim', ...command })
    const claimed: ClaimedRecord[] = []
    for (const row of rows) {
      const record = await this.#orReport(row, this.#codec.decodeChecked(row), () => this.#setAside(row, command.owner))
      if (record) claimed.push(claimedRecord(command, row, record))
    }
    return { claimed, last: rows.at(-1)?.place ?? command.after }
  }

  #setAside({ namespace, key, epoch }: ClaimedRow, owner: string): Promise<boolean> {
    return this.#ask({ do: 'write', namespace, key, owner, epoch, change: 'set-aside' })
  }

  async claimOne(claimant: Claimant, { part, ...wanted }: ClaimWish): Promise<ClaimedRecord | undefined> {
    const [row] = await this.#ask({ do: 'claim', ...claimant, ...wanted })
    if (!row) return undefined
    return { place: row.place, record: await this.#codec.decodeChecked(row, part), previousOwner: row.previousOwner }
  }

  async read(namespace: string, keyOrId: string, part?: RecordPart): Promise<OperationRecord | undefined> {
    const row = await this.#ask({ do: 'read', namespace, keyOrId })
    return row && this.#codec.decodeChecked(row, part)
  }

  /** Where a record stands in the order of acceptance. */
  async placeOf(namespace: string, keyOrId: string): Promise<number | undefined> {
    const row = await this.#ask({ do: 'read', namespace, keyOrId })
    return row?.place
  }

  async list(query: Omit<List, 'do'>): Promise<{ records: PlacedRecord[]; last: number; more: boolean }> {
    const rows = await this.#ask({ do: 'list', ...query })
    const records: PlacedRecord[] = []
    for (const row of rows) {
      const record = await this.#orReport(row, this.#codec.decode(row))
      if (record) records.push({ place: row.place, record })
    }
    return { records, last: rows.at(-1)?.place ?? query.after, more: rows.length === query.limit }
  }

  /** The key of the operation whose turn it is. */
  firstInLane(namespace: string, lane: string): Promise<string | undefined> {
    return this.#ask({ do: 'lane', namespace, lane })
  }

  /**
   * Moves a record whose lease is ours to the end of the order. Not by the queue of writes, which runs the commands of a
   * batch that failed one by one: both are done, or none. False: the lease is lost.
   */
  async appendAnew(record: OperationRecord, fence: Fence): Promise<boolean> {
    const remove = { do: 'write', ...fence, change: 'remove' } as const
    const append = { do: 'append', row: await this.#codec.encode(record) } as const
    const [removed] = await this.journal.execute([remove, append], this.#terms.now?.())
    return removed === true
  }

  /** Which runners hold leases, and when there is something to claim. */
  survey(query: Omit<Survey, 'do'>): Promise<SurveyResult> {
    return this.#ask({ do: 'survey', ...query })
  }

  /** Deletes every record of the namespace; the answer counts them. */
  forget(namespace: string): Promise<number> {
    return this.#ask({ do: 'drop', namespace })
  }

  /** Deletes up to `limit` records that have outlived their retention; the answer counts them. */
  prune(now: number, limit: number): Promise<number> {
    return this.#ask({ do: 'drop', expiredBy: now, limit })
  }

  /** A row ready to be written in the caller's own transaction. */
  encode(record: OperationRecord): JournalRow | Promise<JournalRow> {
    return this.#codec.encode(record)
  }

  persistIn(transaction: unknown, row: JournalRow): void | Promise<void> {
    return persistIn(this.journal, transaction, row)
  }

  /** Resolves once every write that was asked for has been made. */
  idle(): Promise<void> {
    return this.#writes.idle()
  }

  async close(): Promise<void> {
    await this.#writes.idle()
    await this.journal.close()
  }

  /** A failed command proves nothing about the operation that it asked for: the error says `unknown`. */
  #ask<C extends JournalCommand>(command: C): Promise<ResultOf<C>> {
    return new Promise((resolve, reject) => {
      this.#writes.push({ command, resolve, reject: (error) => reject(unknowing(error)) })
    })
  }

  async #orReport({ key }: JournalRow, decoded: Promise<OperationRecord>, setAside?: () => Promise<unknown>) {
    try {
      return await decoded
    } catch (error) {
      // Only if it is corrupt: a newer or sealed one may be readable tomorrow. Those claimed with it don't wait for the write.
      const report = (failure: unknown): void => this.#terms.onUnreadable(failure as StorageError, key)
      if ((error as StorageError).code === CORRUPT) setAside?.().catch(report)
      report(error)
      return undefined
    }
  }
}
