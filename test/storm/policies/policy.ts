import type { Random } from '../../../src/foundation/random.ts'

/** What a caller wants done, once. */
export interface Operation {
  readonly startedAt: number
  /** Requests sent for it. */
  attempts: number
}

/** What came of one request. `late`: no answer within the attempt's timeout. */
export type AttemptEnd = 'success' | 'refused' | 'late' | 'do-not-retry'

/** What the simulated world offers a client. */
export interface World {
  readonly now: number
  readonly random: Random
  after(ms: number, run: () => void): void
  /** Sends one request; `ended` is called once. */
  send(operation: Operation, ended: (end: AttemptEnd, floorMs?: number) => void): void
  /** The caller gets an answer: the operation succeeded, failed for good, or is kept to be finished later. */
  settle(operation: Operation, as: 'succeeded' | 'failed' | 'kept'): void
  /** A kept operation has been finished. */
  finish(operation: Operation): void
}

/** One process of the fleet: everything that its operations share. */
export interface ClientModel {
  submit(operation: Operation): void
}

export interface Policy {
  readonly name: string
  /** `memory`: what a journal kept of the process that ran before, from `newMemory`. */
  newClient(world: World, memory?: unknown): ClientModel
  /** What a process finds of the one before, which left `former`. Undefined where nothing outlives a process. */
  newMemory?(former?: unknown): unknown
}
