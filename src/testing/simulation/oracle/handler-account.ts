import type { SimulatedProcess } from '../simulated-process.ts'
import type { Violation } from './oracle.ts'

/** One run of a handler, from its beginning to its end, whether or not its request has been answered meanwhile. */
export interface HandlerRun {
  readonly process: SimulatedProcess
  readonly key: string
  readonly label: string
  /** Of its claim; undefined if the request needs none. */
  readonly token: string | undefined
  /** The signal that its ledger gave it. */
  readonly signal: AbortSignal
  isOver: boolean
  /** Another handler has begun under the same key since. */
  isSuperseded: boolean
}

export type Begun = Omit<HandlerRun, 'isOver' | 'isSuperseded'>

/** P8 on the server: while a handler may work under a key, no other one does. */
export class HandlerAccount {
  readonly #now: () => number
  readonly #settled = new Set<string>()
  readonly #runs = new Map<string, HandlerRun[]>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** A handler begins: each earlier one of its key is over, aborted or dead; one that stands still can be none of these. */
  began(begun: Begun): [HandlerRun, Violation | undefined] {
    const { process, key, label } = begun
    const run = { ...begun, isOver: false, isSuperseded: false }
    const earlier = this.#runs.get(key) ?? []
    this.#runs.set(key, [...earlier, run])
    for (const other of earlier) other.isSuperseded = true
    const live = earlier.find((other) => this.#isAtWork(other))
    if (!live) return [run, undefined]
    return [run, ['P8', `${process.name} works on ${label} while ${live.process.name} does, which is not aborted`]]
  }

  /** The transaction of a handler has ended its claim, whatever the handler still does with its answer. */
  settled(token: string): void {
    this.#settled.add(token)
  }

  /** A handler is about to do something. */
  acts(run: HandlerRun): Violation | undefined {
    if (!run.isSuperseded || !this.#isAtWork(run)) return undefined
    return ['P8', `${run.process.name} goes on with ${run.label}, is not aborted, and another handler works on it`]
  }

  /** Where a process has just thawed, its timers and its handlers go on in any order. */
  #isAtWork({ process, signal, isOver, token }: HandlerRun): boolean {
    if (token !== undefined && this.#settled.has(token)) return false
    return !isOver && process.alive && process.thawsAt < this.#now() && !signal.aborted
  }
}
