import { delayBetweenRuns } from '../../../src/client/policy/decide.ts'
import type { Reason } from '../../../src/errors/reason.ts'
import type { Operation, World } from './policy.ts'

/** Why a run ended without a final answer. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
  /** Was a request sent in this run? */
  readonly tried: boolean
}

interface Kept {
  readonly operation: Operation
  dueAt: number
  fruitlessRuns: number
  running: boolean
}

type RunEnd = 'succeeded' | 'failed' | Stop
type Resume = (operation: Operation, ended: (end: RunEnd) => void) => void

export interface ResumeTerms {
  readonly atOnce: number
  /** Nothing is taken up before this time, as far as is known now. */
  readonly heldUntil?: () => number
}

/** As the engine has it. */
const LOOK_EVERY_MS = 500

/** The journal of one process with a continuous resume at work, in the order of acceptance. */
export class KeptOperations {
  readonly #world: World
  readonly #resume: Resume
  readonly #atOnce: number
  readonly #heldUntil: () => number
  #all: Kept[] = []
  #running = 0
  #nextLookAt = Number.POSITIVE_INFINITY

  constructor(world: World, { atOnce, heldUntil = () => 0 }: ResumeTerms, resume: Resume) {
    this.#heldUntil = heldUntil
    this.#world = world
    this.#resume = resume
    this.#atOnce = atOnce
  }

  keep(operation: Operation, stop: Stop): void {
    const kept = { operation, fruitlessRuns: 0, dueAt: 0, running: false }
    this.#all.push(kept)
    this.#setDue(kept, stop)
    this.#lookLater()
  }

  /** Leave may be had sooner than was known. */
  reconsider(): void {
    this.#lookLater()
  }

  #setDue(kept: Kept, { reason, retryAt, tried }: Stop): void {
    const { now, random } = this.#world
    // When an operation gets leave is known of its origin, not of the operation.
    if (!tried && (reason === 'budget' || reason === 'breaker')) return
    kept.dueAt = Math.max(retryAt ?? 0, now + (tried ? delayBetweenRuns(kept.fruitlessRuns, random) : 0))
  }

  #lookLater(): void {
    if (this.#all.length === 0) return
    const at = this.#world.now + this.#untilNextLook()
    if (at >= this.#nextLookAt) return
    this.#nextLookAt = at
    this.#world.after(at - this.#world.now, () => {
      // An earlier look has taken its place.
      if (this.#nextLookAt !== at) return
      this.#nextLookAt = Number.POSITIVE_INFINITY
      this.#look()
      this.#lookLater()
    })
  }

  /** Looks that would find nothing are left out. */
  #untilNextLook(): number {
    const { now } = this.#world
    let dueAt = Number.POSITIVE_INFINITY
    for (const kept of this.#all) if (!kept.running && kept.dueAt < dueAt) dueAt = kept.dueAt
    const at = Math.max(this.#heldUntil(), Number.isFinite(dueAt) ? dueAt : now)
    return Math.max(1, Math.ceil((at - now) / LOOK_EVERY_MS)) * LOOK_EVERY_MS
  }

  /** Starts what is due, as much as may run at once. */
  #look(): void {
    for (const kept of this.#all) {
      const { now } = this.#world
      if (this.#running >= this.#atOnce || now < this.#heldUntil()) return
      if (!kept.running && kept.dueAt <= now) this.#start(kept)
    }
  }

  #start(kept: Kept): void {
    kept.running = true
    this.#running++
    this.#resume(kept.operation, (end) => {
      kept.running = false
      this.#running--
      if (end === 'succeeded' || end === 'failed') this.#settle(kept, end)
      else this.#putBack(kept, end)
      // A place is free: a pass goes on at once. From a fresh event, since this may be called while starting.
      this.#world.after(0, () => {
        this.#look()
        this.#lookLater()
      })
    })
  }

  #settle(kept: Kept, end: 'succeeded' | 'failed'): void {
    this.#all = this.#all.filter((other) => other !== kept)
    if (end === 'succeeded') this.#world.finish(kept.operation)
  }

  #putBack(kept: Kept, stop: Stop): void {
    if (stop.tried) kept.fruitlessRuns++
    this.#setDue(kept, stop)
  }
}
