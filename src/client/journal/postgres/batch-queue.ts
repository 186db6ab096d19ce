import type { StorageError } from '../../../errors/classes.ts'
import { startBackgroundTimer, systemClock, yieldToEventLoop } from '../../../foundation/clock.ts'
import type { QueueTerms } from '../../../foundation/command-queue.ts'
import { asStorageError } from '../as-storage-error.ts'
import type { JournalQueue, QueuedCommand } from '../group-commit.ts'
import type { JournalCommand } from '../port.ts'
import { type EachResult, NotDone } from './each-result.ts'
import { HeldCommands, LARGEST_BATCH, laneOf } from './held-commands.ts'

export type RunShared = (commands: readonly JournalCommand[], now?: number) => Promise<readonly EachResult[]>

/** A batch has a time limit: about so many bytes share one. */
const LARGEST_BATCH_BYTES = 8 * 1024 * 1024
/** A batch that is not answered for so long lets another one pass: its connection may be dead. */
const SLOW_MS = 500

/** A batch that was sent. */
interface Flight {
  readonly lanes: ReadonlySet<string | undefined>
}

/**
 * Commands that arrive while a batch is under way share the next one. A command that another transaction holds up waits
 * apart from the others. A second batch is sent only if the first one is slow.
 */
export class BatchQueue implements JournalQueue {
  readonly #run: RunShared
  readonly #turn: () => Promise<void>
  readonly #now: (() => number) | undefined
  readonly #held: HeldCommands
  #queue: QueuedCommand[] = []
  #isFlushing = false
  #slow: Flight | undefined
  #onIdle: (() => void)[] = []

  constructor(run: RunShared, { turn = yieldToEventLoop, now }: QueueTerms) {
    this.#run = run
    this.#turn = turn
    this.#now = now
    this.#held = new HeldCommands((commands) => run(commands, now?.()), this.#wakeIdle)
  }

  push(queued: QueuedCommand): void {
    this.#queue.push(queued)
    if (this.#isFlushing) return
    this.#isFlushing = true
    // What the same turn of the event loop asks for shares its first transaction.
    this.#turn().then(this.#flush, this.#flush)
  }

  /** Resolves once nothing is queued, held up or being written. */
  async idle(): Promise<void> {
    // Again, because an answer may have led to the next command.
    while (this.#isFlushing || this.#slow || !this.#held.isEmpty) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    }
  }

  readonly #wakeIdle = (): void => {
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  readonly #flush = (): void => {
    const batch = this.#take()
    if (batch.length === 0) {
      this.#isFlushing = false
      this.#wakeIdle()
      return
    }
    const flight: Flight = { lanes: new Set(batch.map(({ command }) => laneOf(command))) }
    const cancel = startBackgroundTimer(systemClock, SLOW_MS, () => this.#letPass(flight))
    const commands = batch.map(({ command }) => command)
    void this.#run(commands, this.#now?.())
      .then(
        (results) => this.#answer(batch, results),
        (error: unknown) => refuse(batch, asStorageError(error, 'The journal failed')),
      )
      .then(() => {
        cancel()
        this.#land(flight)
      })
  }

  #answer(batch: readonly QueuedCommand[], results: readonly EachResult[]): void {
    batch.forEach((queued, at) => {
      const result = results[at] as EachResult
      if (!(result instanceof NotDone)) queued.resolve(result as never)
      else if (result.isHeld) this.#held.add(queued, result)
      else queued.reject(result.failure)
    })
  }

  #letPass(flight: Flight): void {
    if (this.#slow) return
    this.#slow = flight
    this.#flush()
  }

  #land(flight: Flight): void {
    if (this.#slow === flight) {
      this.#slow = undefined
      // The other one flushes when it lands.
      if (this.#isFlushing) return
      this.#isFlushing = true
    }
    this.#flush()
  }

  /** The next batch. Appends to a lane keep their order: they pass none that waits, and none that is under way. */
  #take(): QueuedCommand[] {
    const batch: QueuedCommand[] = []
    const rest: QueuedCommand[] = []
    let bytes = 0
    for (const queued of this.#queue) {
      const held = this.#held.isEmpty ? undefined : this.#held.ofSameLane(queued.command)
      const lane = this.#slow && laneOf(queued.command)
      if (held) this.#held.add(queued, held)
      else if (isFull(batch.length, bytes) || (lane !== undefined && this.#slow?.lanes.has(lane))) rest.push(queued)
      else {
        batch.push(queued)
        bytes += bytesOf(queued.command)
      }
    }
    this.#queue = rest
    return batch
  }
}

function refuse(batch: readonly QueuedCommand[], error: StorageError): void {
  for (const { reject } of batch) reject(error)
}

function isFull(commands: number, bytes: number): boolean {
  return commands >= LARGEST_BATCH || bytes >= LARGEST_BATCH_BYTES
}

function bytesOf(command: JournalCommand): number {
  if (command.do === 'append') return command.row.body?.byteLength ?? 0
  if (command.do !== 'write' || typeof command.change === 'string' || !('head' in command.change)) return 0
  return command.change.responseBody?.byteLength ?? 0
}
