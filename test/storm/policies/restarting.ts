import type { ClientModel, Operation, Policy, World } from './policy.ts'

/** When processes die. */
export interface Restarts {
  readonly everyMs: number
  readonly from: number
  readonly until: number
}

/** The same policy in processes that die again and again. A call under way dies with its process. */
export function restarting(policy: Policy, restarts: Restarts): Policy {
  return {
    name: policy.name,
    newClient: (world) => new MortalClient(policy, restarts, world),
  }
}

class MortalClient implements ClientModel {
  readonly #policy: Policy
  readonly #restarts: Restarts
  readonly #world: World
  #memory: unknown
  #inside: ClientModel
  #life = 0
  #open = new Set<Operation>()

  constructor(policy: Policy, restarts: Restarts, world: World) {
    this.#policy = policy
    this.#restarts = restarts
    this.#world = world
    this.#inside = this.#born()
    world.after(restarts.from - world.now + world.random() * restarts.everyMs, () => this.#die())
  }

  submit(operation: Operation): void {
    this.#open.add(operation)
    this.#inside.submit(operation)
  }

  #die(): void {
    const { everyMs, until } = this.#restarts
    if (this.#world.now >= until) return
    this.#life++
    for (const operation of this.#open) this.#world.settle(operation, 'failed')
    this.#open.clear()
    this.#inside = this.#born()
    this.#world.after(everyMs, () => this.#die())
  }

  #born(): ClientModel {
    this.#memory = this.#policy.newMemory?.(this.#memory)
    return this.#policy.newClient(this.#mortalWorld(), this.#memory)
  }

  /** Whatever a dead process waited for never happens. */
  #mortalWorld(): World {
    const life = this.#life
    const world = this.#world
    const ifAlive = (run: () => void) => (): void => {
      if (life === this.#life) run()
    }
    return {
      get now() {
        return world.now
      },
      random: world.random,
      after: (ms, run) => world.after(ms, ifAlive(run)),
      send: (operation, ended) => world.send(operation, (end, floorMs) => ifAlive(() => ended(end, floorMs))()),
      settle: (operation, as) => {
        this.#open.delete(operation)
        world.settle(operation, as)
      },
      finish: (operation) => world.finish(operation),
    }
  }
}
