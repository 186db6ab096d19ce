import type { Client } from '../../client/client.ts'
import { isOverdue, judgeUnlisted } from './oracle/claim-rules.ts'
import type { CallPlan } from './plan.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** Looks at operations from outside: lists them, looks one up, reads a result that was found. Each is a claim. */
export class Onlooker {
  readonly #client: Client
  readonly #process: SimulatedProcess
  readonly #world: World

  constructor(client: Client, process: SimulatedProcess, world: World) {
    this.#client = client
    this.#process = process
    this.#world = world
  }

  list(): void {
    const askedAt = this.#world.timeline.now
    const look = async (): Promise<void> => {
      for await (const { key, effect, url } of this.#client.operations()) {
        if (this.#process.alive) this.#world.oracle.claimed(key, { effect, url, askedAt, by: 'a view' })
      }
    }
    look().catch(() => {})
  }

  /** A settlement that no handler has taken for longer than its retention is in this list. */
  async listDeadLetters(): Promise<void> {
    const { oracle, plan } = this.#world
    const now = this.#process.clock.now()
    const overdue = [...oracle.shadows.values()].filter((shadow) => isOverdue(shadow, plan, now))
    const listed = new Set<string>()
    for await (const { key } of this.#client.deadLetters()) listed.add(key)
    for (const shadow of overdue) oracle.breaks(judgeUnlisted(shadow, listed))
  }

  /** Looks an operation up, and reads later what it found. */
  look(keyOrId: string, { label, readsLaterMs }: Pick<CallPlan, 'label' | 'readsLaterMs'>): void {
    const askedAt = this.#world.timeline.now
    const look = async (): Promise<void> => {
      this.#world.say(this.#process.name, `looks ${label} up`)
      const found = await this.#client.operation(keyOrId)
      if (!found || !this.#process.alive) return
      const { oracle } = this.#world
      oracle.claimed(found.key, { effect: found.effect, url: found.url, askedAt, by: 'a look-up' })
      this.#process.later(readsLaterMs, () => {
        if (this.#world.calm) return
        found.result.then(
          () => this.#process.alive && oracle.foundSuccess(found.key, found.url),
          (error: unknown) => this.#process.alive && oracle.foundFailure(found, error),
        )
      })
    }
    look().catch(() => {})
  }
}
