import { StorageError } from '../../../errors/classes.ts'
import { locateSqliteDriver } from '../../../sql/load-sqlite-driver.ts'
import { warnIfShared } from '../../../sql/private-file.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import { type JournalPeers, localPeers } from '../local-peers.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { persistRow } from './persist-row.ts'
import { WorkerLink } from './worker-link.ts'

/** How often in a row a dead worker is replaced before the journal gives up. */
const MOST_RESTARTS = 3

export interface WorkerJournalOptions {
  /** Absolute. */
  readonly path: string
  readonly durability: SqliteDurability
  /** Tests take hold of the worker here. */
  readonly onStart?: ((link: WorkerLink) => void) | undefined
}

/** The journal in a file of its own, on a thread of its own. */
export class WorkerJournal implements Journal {
  readonly level: DurabilityLevel
  readonly notifyPeers: JournalPeers['notifyPeers']
  readonly onPeerMessage: JournalPeers['onPeerMessage']
  readonly #options: WorkerJournalOptions
  #link: WorkerLink | undefined
  #opening: Promise<void> | undefined
  #deaths = 0

  constructor(options: WorkerJournalOptions) {
    this.#options = options
    this.level = options.durability === 'full' ? 'power' : 'process'
    const { notifyPeers, onPeerMessage } = localPeers(options.path)
    this.notifyPeers = notifyPeers
    this.onPeerMessage = onPeerMessage
  }

  open(): Promise<void> {
    this.#opening ??= this.#start().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#opening) throw new StorageError(`The journal ${this.#options.path} is not open`, { effect: 'none' })
    await this.#opening
    const link = this.#living()
    const answer = await link.ask({ ask: 'execute', commands: commands.map(compact) })
    this.#deaths = 0
    return 'results' in answer ? answer.results : []
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    await opening?.catch(() => {})
    const link = this.#link
    this.#link = undefined
    if (link && !link.isDead) await link.close()
  }

  persistIn(transaction: unknown, row: JournalRow): void {
    persistRow({ path: this.#options.path }, transaction, row)
  }

  async #start(): Promise<void> {
    this.#link = this.#newLink()
    try {
      await this.#link.ask({ ask: 'open' })
      warnIfShared(this.#options.path, 'journal')
    } catch (error) {
      await this.#link.terminate()
      throw error
    }
  }

  /** A new worker opens the file by itself, with its first batch. */
  #living(): WorkerLink {
    if (this.#link && !this.#link.isDead) return this.#link
    if (++this.#deaths > MOST_RESTARTS) {
      throw new StorageError(
        `The worker thread of the journal ${this.#options.path} keeps dying; it is not started again`,
        { effect: 'none' },
      )
    }
    this.#link = this.#newLink()
    return this.#link
  }

  #newLink(): WorkerLink {
    const { path, durability, onStart } = this.#options
    const link = new WorkerLink({ driver: locateSqliteDriver(), path, durability })
    onStart?.(link)
    return link
  }
}

/** A view is sent to the worker with its whole buffer, and Node's small buffers share one of 8 KiB. */
function compact(command: JournalCommand): JournalCommand {
  if (command.do === 'append') {
    const { row } = command
    const [body, responseBody] = [ownBytes(row.body), ownBytes(row.responseBody)]
    return body === row.body && responseBody === row.responseBody
      ? command
      : { ...command, row: { ...row, body, responseBody } }
  }
  if (command.do === 'write' && typeof command.change === 'object' && 'head' in command.change) {
    const { change } = command
    const responseBody = ownBytes(change.responseBody)
    return responseBody === change.responseBody ? command : { ...command, change: { ...change, responseBody } }
  }
  return command
}

function ownBytes(bytes: Uint8Array | null): Uint8Array | null {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength === bytes.buffer.byteLength) return bytes
  return new Uint8Array(bytes)
}
