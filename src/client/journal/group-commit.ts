import type { Journal, JournalCommand, JournalResult, ResultOf } from './port.ts'

interface Waiting {
  readonly command: JournalCommand
  readonly resolve: (result: JournalResult) => void
  readonly reject: (error: unknown) => void
}

/** At most this many commands share one transaction, so that no caller waits for an endless one. */
const LARGEST_BATCH = 512

/**
 * The journal's write path: a queue with one flush in flight. Commands that arrive while a flush is
 * under way share the next transaction and its fsync, and resolve together.
 */
export class GroupCommit {
  readonly #journal: Journal
  #queue: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(journal: Journal) {
    this.#journal = journal
  }

  run<C extends JournalCommand>(command: C): Promise<ResultOf<C>> {
    return new Promise<JournalResult>((resolve, reject) => {
      this.#queue.push({ command, resolve, reject })
      this.#flushing ??= this.#flushAll()
    }) as Promise<ResultOf<C>>
  }

  /** Resolves once nothing is queued or being written. */
  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  async #flushAll(): Promise<void> {
    // One microtask of patience: calls made in one tick share their first transaction, too.
    await undefined
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, LARGEST_BATCH)
      await this.#flush(batch)
    }
    this.#flushing = undefined
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#journal.execute(batch.map((waiting) => waiting.command))
      batch.forEach((waiting, index) => {
        waiting.resolve(results[index] as JournalResult)
      })
    } catch (error) {
      await this.#blame(batch, error)
    }
  }

  /** Nothing of the batch was written. Alone, each command shows whether it is the one at fault. */
  async #blame(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1) return batch[0]?.reject(error)
    for (const waiting of batch) await this.#flush([waiting])
  }
}
