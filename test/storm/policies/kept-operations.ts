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

/** `claims`: an operation is claimed and then asks for leave, or is left alone until leave can be had. */
export interface ResumeTerms {
  readonly atOnce: number
  readonly claims?: 'first' | 'with leave'
}

/** As the engine has it. */
const LOOK_EVERY_MS = 500

/** The journal of one process with a continuous resume at work, in the order of acceptance. */
export class KeptOperations {
  readonly #world: World
  readonly #resume: Resume
  readonly #atOnce: number
  readonly #asksBeforeClaiming: boolean
  #all: Kept[] = []
  #running = 0
  /** Budget or breaker said that nothing may be sent before this time. */
  #skipUntil = 0
  #nextLookAt = Number.POSITIVE_INFINITY

  constructor(world: World, { atOnce, claims = 'first' }: ResumeTerms, resume: Resume) {
    this.#asksBeforeClaiming = claims === 'with leave'
    this.#world = world
    this.#resume = resume
    this.#atOnce = atOnce
  }

  keep(operation: Operation, stop: Stop): void {
    this.#all.push({ operation, fruitlessRuns: 0, dueAt: this.#dueAt(stop, 0), running: false })
    this.#lookLater()
  }

  #dueAt({ tried, retryAt }: Stop, fruitlessRuns: number): number {
    const { now, random } = this.#world
    return Math.max(retryAt ?? 0, now + (tried ? delayBetweenRuns(fruitlessRuns, random) : 0))
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
    const at = Math.max(this.#skipUntil, Number.isFinite(dueAt) ? dueAt : now)
    return Math.max(1, Math.ceil((at - now) / LOOK_EVERY_MS)) * LOOK_EVERY_MS
  }

  /** Starts what is due, as much as may run at once. */
  #look(): void {
    for (const kept of this.#all) {
      const { now } = this.#world
      if (this.#running >= this.#atOnce || now < this.#skipUntil) return
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
    if (end !== 'succeeded') return
    // The pace may be another one now: ask again.
    if (this.#asksBeforeClaiming) this.#skipUntil = 0
    this.#world.finish(kept.operation)
  }

  #putBack(kept: Kept, stop: Stop): void {
    if (stop.tried) kept.fruitlessRuns++
    const blocked = stop.reason === 'budget' || stop.reason === 'breaker'
    const isUntouched = this.#asksBeforeClaiming && blocked && !stop.tried
    if (!isUntouched) kept.dueAt = this.#dueAt(stop, kept.fruitlessRuns)
    if (blocked) this.#skipUntil = Math.max(this.#skipUntil, stop.retryAt ?? 0)
  }
}
