import type { QueueTerms } from '../../../foundation/command-queue.ts'
import type { JournalQueue, QueuedCommand } from '../group-commit.ts'
import type { JournalCommand } from '../port.ts'
import { BatchQueue, type RunShared } from './batch-queue.ts'

/**
 * The journal's write path. Renewals have a queue of their own: a lease that is not renewed in time is taken over while its
 * runner still works.
 */
export class WritePath implements JournalQueue {
  readonly #commands: BatchQueue
  readonly #renewals: BatchQueue

  constructor(run: RunShared, terms: QueueTerms) {
    this.#commands = new BatchQueue(run, terms)
    this.#renewals = new BatchQueue(run, terms)
  }

  push(queued: QueuedCommand): void {
    const queue = isRenewal(queued.command) ? this.#renewals : this.#commands
    queue.push(queued)
  }

  async idle(): Promise<void> {
    await Promise.all([this.#commands.idle(), this.#renewals.idle()])
  }
}

function isRenewal(command: JournalCommand): boolean {
  return command.do === 'write' && typeof command.change === 'object' && !('head' in command.change)
}
