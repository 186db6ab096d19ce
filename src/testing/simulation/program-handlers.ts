import type { Client } from '../../client/client.ts'
import type { Settlement } from '../../client/engine/recover/deliver.ts'
import type { SlotPlan } from './plan.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** The handlers of a program: slow, failing, and now and then not there. */
export class ProgramHandlers {
  readonly #client: Client
  readonly #process: SimulatedProcess
  readonly #world: World
  #stop: (() => void) | undefined

  constructor(client: Client, process: SimulatedProcess, world: World) {
    this.#client = client
    this.#process = process
    this.#world = world
  }

  take(handlers: SlotPlan['handlers']): void {
    if (handlers === 'none') return
    const { handlersAwayMs } = this.#world
    if (handlersAwayMs > 0) {
      this.#process.later(handlersAwayMs, () => this.take(handlers))
      return
    }
    const named = this.#world.plan.faults.has('many-apis') ? ['order', 'mail'] : ['order']
    const names = handlers === 'all' ? ['*'] : named
    const stops = names.map((name) => this.#client.onSettled(name, (settlement) => this.#handle(settlement)))
    this.#stop = () => {
      for (const stop of stops) stop()
      this.#stop = undefined
    }
  }

  /** As a component that is unmounted, and mounted again. */
  leave(handlers: SlotPlan['handlers']): void {
    if (!this.#stop) return
    const ms = this.#world.dice('handler-leaves').pick([1, 20, 500, 20_000])
    this.#world.say(this.#process.name, `takes its handlers away for ${ms} ms`)
    this.#stop()
    this.#process.later(ms, () => this.take(handlers))
  }

  async #handle(settlement: Settlement): Promise<void> {
    const { operation, status } = settlement
    const world = this.#world
    const { name } = this.#process
    world.say(name, `handler is called: ${status}`)
    world.oracle.handling(operation.key, settlement)
    await this.#point('handler:called', 0)
    if (operation.name !== undefined && operation.name === world.plan.hangingName && !world.calm) await this.#hang()
    if (world.handlersAwayMs > 0) throw new Error('The database of the handler is down')
    await this.#point(
      'handler:working',
      world.strikes('handler-slow') ? world.dice('handler').between(1000, 50_000) : 5,
    )
    if (world.strikes('handler-throws')) throw new Error('The handler fails')
    await this.#point('handler:done', 0)
    world.say(name, `handler has taken: ${status}`)
    world.oracle.handled(operation.key)
  }

  /** Until everything calms down. */
  #hang(): Promise<void> {
    this.#world.happened('handler-hangs')
    return new Promise((resolve) => this.#world.onCalm(resolve))
  }

  #point(point: 'handler:called' | 'handler:working' | 'handler:done', ms: number): Promise<void> {
    return new Promise((resolve) => this.#process.later(ms, () => this.#process.reach(point) && resolve()))
  }
}
