import { labelOf, type Shadow } from './oracle/shadow.ts'
import { USERS } from './plan.ts'
import type { Program } from './program.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import type { Slots } from './slots.ts'
import type { WireServer } from './wire.ts'
import type { World } from './world.ts'

/** A lease, and a little more. */
const ROUND_MS = 31_000
/** The horizon and the longest wait are far behind by then. */
const MOST_ROUNDS = 60
/** What the network, a slow disk or a queue before it still holds arrives within this. */
const STRAGGLERS_MS = 120_000

interface Stage {
  readonly slots: Slots
  readonly disk: SimulatedDisk
  readonly server: WireServer
}

/**
 * The end of a history: nothing goes wrong any more, and a client with the same journal keeps resuming. Everything
 * that was accepted now has to come to its end.
 */
export class Ending {
  readonly #world: World
  readonly #slots: Slots
  readonly #disk: SimulatedDisk
  readonly #asked = new Set<string>()

  readonly #server: WireServer

  constructor(world: World, { slots, disk, server }: Stage) {
    this.#world = world
    this.#slots = slots
    this.#disk = disk
    this.#server = server
  }

  async come(): Promise<void> {
    const world = this.#world
    world.calmDown()
    await world.timeline.run(Math.max(this.#slots.thawedAt, this.#server.backAt ?? 0))
    const caretakers = world.plan.origins.map((origin, n) => this.#slots.caretaker(n + 1, origin))
    for (const caretaker of caretakers) await this.#listDeadLetters(caretaker)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      // Each user's operations wait for that user.
      world.logIn(USERS[round % USERS.length] ?? '')
      if (!this.#isOver()) await this.#round(caretakers)
      else {
        await world.timeline.run(world.timeline.now + STRAGGLERS_MS)
        if (this.#isOver()) return
      }
    }
  }

  /** Before anything is delivered at last. */
  async #listDeadLetters(caretaker: Program): Promise<void> {
    const { timeline, plan } = this.#world
    if (!plan.faults.has('handlers-away')) return
    let over = false
    void caretaker.listDeadLetters().then(() => {
      over = true
    })
    await timeline.run(timeline.now + ROUND_MS, () => over)
  }

  async #round(caretakers: readonly Program[]): Promise<void> {
    const { timeline, oracle } = this.#world
    let over = false
    void Promise.all(caretakers.map((caretaker) => caretaker.resume())).then(() => {
      over = true
    })
    await timeline.run(timeline.now + ROUND_MS, () => over)
    for (const shadow of oracle.shadows.values()) {
      if (shadow.open) for (const caretaker of caretakers) this.#askFor(caretaker, shadow)
    }
    await timeline.run(timeline.now + ROUND_MS, () => this.#isOver())
  }

  /** A parked operation is only sent again by `retry`. */
  #askFor(caretaker: Program, shadow: Shadow): void {
    if (shadow.head.heldBy !== 'poison' || this.#asked.has(shadow.key)) return
    if (!shadow.url.startsWith(caretaker.origin)) return
    this.#asked.add(shadow.key)
    const call = this.#world.plan.calls.find((plan) => plan.label === labelOf(shadow))
    if (call) caretaker.retry(shadow.key, call)
  }

  #isOver(): boolean {
    if (!this.#disk.idle) return false
    const { shadows, calls } = this.#world.oracle
    for (const shadow of shadows.values()) if (shadow.open) return false
    return calls.every((call) => call.result !== undefined || !call.process.alive)
  }
}
