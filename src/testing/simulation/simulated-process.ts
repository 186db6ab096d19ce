import { abortReason, onAbort } from '../../foundation/abort.ts'
import type { Clock } from '../../foundation/clock.ts'
import type { SimulatedCrashPoint } from './vocabulary.ts'
import type { Machine, World } from './world.ts'

/** Says whether the process ends at this point. */
export type CrashRule = (point: SimulatedCrashPoint) => boolean

/**
 * A process that can end or freeze at any moment. Everything that it waits for goes through `later`: once it has ended
 * nothing calls back any more, and while it is frozen everything waits for the thaw.
 */
export class SimulatedProcess {
  readonly name: string
  readonly machine: Machine
  readonly clock: Clock
  /** What leases call it. */
  owner: string
  readonly #world: World
  readonly #endsAt: CrashRule
  #alive = true
  #frozenUntil = 0
  /** Called when the process ends, however it does. */
  onEnd: (() => void) | undefined
  /** Called when it asks the disk to write a settlement, in histories where that is a bad moment. */
  onSettling: (() => void) | undefined

  constructor(world: World, terms: { readonly name: string; readonly machine: Machine; readonly endsAt: CrashRule }) {
    this.#world = world
    this.name = terms.name
    this.owner = terms.name
    this.machine = terms.machine
    this.#endsAt = terms.endsAt
    this.clock = {
      now: () => world.wallClock(terms.machine),
      elapsed: () => world.timeline.now,
      after: (ms, callback) => this.later(ms, () => this.reach('timer') && callback()),
      sleep: (ms, signal) => this.#sleep(ms, signal),
      turn: () => new Promise((resolve) => this.later(0, resolve)),
    }
  }

  get alive(): boolean {
    return this.#alive
  }

  /** How much time can have passed for it at the most, jumps of its clock included. */
  get elapsedMs(): number {
    return this.#world.timeline.now + this.machine.leaptMs
  }

  get thawsAt(): number {
    return this.#alive ? this.#frozenUntil : 0
  }

  /** Calls back after `ms`, unless the process has ended by then; a frozen one is called when it thaws. */
  later(ms: number, callback: () => void): () => void {
    const { timeline } = this.#world
    let cancel = timeline.at(timeline.now + Math.max(0, ms), fire)
    const isAlive = (): boolean => this.#alive
    const thaw = (): number => this.#frozenUntil
    function fire(): void {
      if (!isAlive()) return
      if (timeline.now < thaw()) cancel = timeline.at(thaw(), fire)
      else callback()
    }
    return () => cancel()
  }

  /** The process comes to a point where it may end. False: it did, and nothing more may be done for it. */
  reach(point: SimulatedCrashPoint): boolean {
    if (!this.#alive) return false
    if (this.#world.calm || !this.#endsAt(point)) return true
    this.#world.coverage.saw('crash point', point)
    this.end(`is killed at ${point}`)
    return false
  }

  end(how: string): void {
    if (!this.#alive) return
    this.#alive = false
    this.#world.say(this.name, how)
    this.onEnd?.()
  }

  freeze(ms: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#world.timeline.now + ms)
    this.#world.say(this.name, `freezes for ${ms} ms`)
  }

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortReason(signal))
      const cancel = this.later(ms, () => {
        if (!this.reach('timer')) return
        stopListening()
        resolve()
      })
      const stopListening = onAbort(signal, () => {
        cancel()
        if (signal) reject(abortReason(signal))
      })
    })
  }
}
