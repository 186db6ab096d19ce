import type { StorageError } from '../../errors/classes.ts'
import { yieldToEventLoop } from '../../foundation/clock.ts'
import type { CommandQueue, Queued, QueueTerms } from '../../foundation/command-queue.ts'
import { asStorageError } from './as-storage-error.ts'
import type { Journal, JournalCommand, JournalResult } from './port.ts'

export type QueuedCommand = Queued<JournalCommand, StorageError>
export type JournalQueue = CommandQueue<JournalCommand, StorageError>

/** At most this many commands share one transaction, so that no caller waits for an endless one. */
const LARGEST_BATCH = 512
/** Bodies of more than this (bytes) do not share a transaction: the first caller would wait until the last body is written. */
const LARGEST_BATCH_BYTES = 4 * 1024 * 1024
const FAILED = 'The journal failed'
/** After so many that fail alone as well it is not one command's fault: the disk is full, the file is locked. */
const FAILURES_THAT_TELL = 2

/**
 * The journal's write path: a queue with one flush in flight. Commands that arrive while a flush is
 * under way share the next transaction and its fsync, and resolve together.
 *
 * Callers are answered by callback: a command makes no promise here, and a batch two.
 */
export class GroupCommit implements JournalQueue {
  readonly #journal: Journal
  readonly #turn: () => Promise<void>
  readonly #now: (() => number) | undefined
  #queue: QueuedCommand[] = []
  #isFlushing = false
  #onIdle: (() => void)[] = []

  constructor(journal: Journal, { turn = yieldToEventLoop, now }: QueueTerms = {}) {
    this.#journal = journal
    this.#turn = turn
    this.#now = now
  }

  push(queued: QueuedCommand): void {
    this.#queue.push(queued)
    if (this.#isFlushing) return
    this.#isFlushing = true
    // One turn of patience: what the same turn of the event loop asks for shares its first transaction, so that
    // a settlement rides along with the next append.
    this.#turn().then(this.#flush, this.#flush)
  }

  /** Resolves once nothing is queued or being written. */
  async idle(): Promise<void> {
    // Again, because an answer may have led to the next command.
    while (this.#isFlushing) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  readonly #flush = (): void => {
    const batch = this.#queue.splice(0, countForBatch(this.#queue))
    if (batch.length === 0) {
      this.#isFlushing = false
      for (const resolve of this.#onIdle.splice(0)) resolve()
      return
    }
    const commands: JournalCommand[] = []
    for (const { command } of batch) commands.push(command)
    const fail = (error: unknown): Promise<void> => this.#blame(batch, asStorageError(error, FAILED))
    const answer = (results: readonly JournalResult[]): Promise<void> | undefined => {
      // A journal of the caller's own may answer wrongly.
      if (results?.length !== batch.length) return fail('it must give one result per command')
      let at = 0
      for (const { resolve } of batch) resolve(results[at++] as never)
      this.#flush()
      return undefined
    }
    try {
      // No further promise where `execute` gives a native one.
      Promise.resolve(this.#journal.execute(commands, this.#now?.())).then(answer, fail)
    } catch (error) {
      void fail(error)
    }
  }

  /** Nothing of the batch was written. Alone, each command shows whether it is the one at fault. */
  async #blame(batch: readonly QueuedCommand[], error: StorageError): Promise<void> {
    let failures = 0
    for (const queued of batch) {
      if (batch.length === 1 || failures >= FAILURES_THAT_TELL) queued.reject(error)
      else if (!(await this.#succeedsAlone(queued, error))) failures++
    }
    this.#flush()
  }

  async #succeedsAlone({ command, resolve, reject }: QueuedCommand, first: StorageError): Promise<boolean> {
    try {
      const [result] = await this.#journal.execute([command], this.#now?.())
      resolve(result as never)
      return true
    } catch (error) {
      // Refused now, but perhaps written before: then the effect of the first failure, unknown, is the true one.
      reject(first.effect === 'none' ? asStorageError(error, FAILED) : first)
      return false
    }
  }
}

function countForBatch(queue: readonly QueuedCommand[]): number {
  let bytes = 0
  let count = 0
  for (const { command } of queue) {
    if (command.do === 'append') bytes += command.row.body?.byteLength ?? 0
    if (count === LARGEST_BATCH || (count > 0 && bytes > LARGEST_BATCH_BYTES)) break
    count++
  }
  return count
}
