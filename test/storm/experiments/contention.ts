import { backoffDelay } from '../../../src/client/policy/backoff.ts'
import type { Random } from '../../../src/foundation/random.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { normal } from '../dice.ts'
import { VirtualTime } from '../virtual-time.ts'

/*
 * Clients that all want to change one row, each by reading its version and writing if it is still the same. One
 * of those who read the same version wins; the others wait and read again. It is the experiment by which the
 * jitters became known (AWS architecture blog, 2015).
 */

export type Waiting = 'no delay' | 'no jitter' | 'equal' | 'full' | 'decorrelated'

export const WAYS_OF_WAITING: readonly Waiting[] = ['no delay', 'no jitter', 'equal', 'full', 'decorrelated']

export interface ContentionRow {
  readonly waiting: Waiting
  readonly clients: number
  /** Writes tried, until everybody has succeeded. */
  readonly calls: number
  readonly completionMs: number
}

const NETWORK_MS = { mean: 10, deviation: 2 }
/** The first delay of the experiment is already doubled once. */
const FIRST_RETRY = 1
const BACKOFF = { baseMs: 5, capMs: 2000 }

export interface ContentionOptions {
  readonly clients: number
  readonly runs: number
  readonly seed: number
}

/** The mean of several runs. */
export function contentionRow(waiting: Waiting, { clients, runs, seed }: ContentionOptions): ContentionRow {
  let calls = 0
  let completionMs = 0
  for (let run = 0; run < runs; run++) {
    const one = new Contention(waiting, seededRandom(`${seed}:contention:${clients}:${run}`)).run(clients)
    calls += one.calls / runs
    completionMs += one.completionMs / runs
  }
  return { waiting, clients, calls, completionMs }
}

class Contention {
  readonly #time = new VirtualTime()
  readonly #waiting: Waiting
  readonly #random: Random
  #version = 0
  #calls = 0
  #lastSuccessAt = 0

  constructor(waiting: Waiting, random: Random) {
    this.#waiting = waiting
    this.#random = random
  }

  run(clients: number): { calls: number; completionMs: number } {
    for (let client = 0; client < clients; client++) this.#read({ retry: FIRST_RETRY, previousMs: BACKOFF.baseMs })
    this.#time.runUntil(Number.MAX_SAFE_INTEGER)
    return { calls: this.#calls, completionMs: this.#lastSuccessAt }
  }

  #read(state: { retry: number; previousMs: number }): void {
    this.#travel(() => {
      const version = this.#version
      this.#travel(() => this.#travel(() => this.#write(version, state)))
    })
  }

  #write(version: number, { retry, previousMs }: { retry: number; previousMs: number }): void {
    this.#calls++
    const won = version === this.#version
    if (won) this.#version++
    this.#travel(() => {
      if (won) {
        this.#lastSuccessAt = this.#time.now
        return
      }
      const delayMs = this.#delay({ retry, previousMs })
      this.#time.after(delayMs, () => this.#read({ retry: retry + 1, previousMs: delayMs }))
    })
  }

  #delay(state: { retry: number; previousMs: number }): number {
    if (this.#waiting === 'no delay') return 0
    const jitter = this.#waiting === 'no jitter' ? 'none' : this.#waiting
    return backoffDelay({ jitter, ...BACKOFF }, state, this.#random)
  }

  /** One way through the network. */
  #travel(arrive: () => void): void {
    this.#time.after(Math.abs(normal(NETWORK_MS.mean, NETWORK_MS.deviation, this.#random)), arrive)
  }
}
