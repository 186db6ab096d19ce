import { systemClock } from '../../../foundation/clock.ts'
import { asStorageError } from '../as-storage-error.ts'
import type { QueuedCommand } from '../group-commit.ts'
import type { JournalCommand } from '../port.ts'
import { type EachResult, NotDone } from './each-result.ts'

/** How long a command waits for the transaction that holds its row, its id or its lane. */
const PATIENCE_MS = 5000
const PAUSE_MS = 100
/** At most this many commands share one transaction. */
export const LARGEST_BATCH = 512

interface HeldCommand {
  readonly queued: QueuedCommand
  readonly lane: string | undefined
  readonly giveUpAt: number
  failure: NotDone
}

type Run = (commands: readonly JournalCommand[]) => Promise<readonly EachResult[]>

/**
 * Commands that other transactions hold up, an outbox transaction that is still open say. They are tried again together,
 * apart from all others, until they are done or have waited too long. In between they hold no connection.
 */
export class HeldCommands {
  readonly #run: Run
  readonly #onEmpty: () => void
  #waiting: HeldCommand[] = []

  constructor(run: Run, onEmpty: () => void) {
    this.#run = run
    this.#onEmpty = onEmpty
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(queued: QueuedCommand, failure: NotDone): void {
    const isFirst = this.isEmpty
    const giveUpAt = systemClock.now() + PATIENCE_MS
    this.#waiting.push({ queued, failure, giveUpAt, lane: laneOf(queued.command) })
    if (isFirst) void this.#retry()
  }

  /** Why an append must wait here: one of its lane does, and appends to a lane keep their order. */
  ofSameLane(command: JournalCommand): NotDone | undefined {
    const lane = laneOf(command)
    return lane === undefined ? undefined : this.#waiting.find((held) => held.lane === lane)?.failure
  }

  /** Each has a time limit, and so has this loop. */
  async #retry(): Promise<void> {
    let isMoving = false
    while (!this.isEmpty) {
      if (!isMoving) await systemClock.sleep(PAUSE_MS)
      const batch = this.#waiting.slice(0, LARGEST_BATCH)
      const results = await this.#run(batch.map(({ queued }) => queued.command)).catch((error: unknown) => {
        const failed = new NotDone(asStorageError(error, 'The journal failed'))
        return batch.map(() => failed)
      })
      const answered = new Set(batch.filter((held, at) => isAnswered(held, results[at] as EachResult)))
      this.#waiting = this.#waiting.filter((held) => !answered.has(held))
      isMoving = answered.size > 0
    }
    this.#onEmpty()
  }
}

/** False: it waits on. */
function isAnswered(held: HeldCommand, result: EachResult): boolean {
  const { queued, giveUpAt } = held
  if (!(result instanceof NotDone)) {
    queued.resolve(result as never)
    return true
  }
  held.failure = result
  if (result.isHeld && systemClock.now() < giveUpAt) return false
  queued.reject(result.failure)
  return true
}

/** The lane that a command appends to, as one text with its namespace. */
export function laneOf(command: JournalCommand): string | undefined {
  if (command.do !== 'append' || command.row.lane === null) return undefined
  return JSON.stringify([command.row.namespace, command.row.lane])
}
