import type { Effect, Reply, Sent, WireServer } from './wire.ts'
import type { World } from './world.ts'

/** A server of one's own for the simulation: one object for each history, so that histories don't mix. */
export interface SimulatedApi {
  /** Answers a request, as a fetch handler does. Time stands still meanwhile. */
  fetch(request: Request): Response | Promise<Response>
  /** How often the operation with this key was done. */
  effects(key: string): number | Promise<number>
}

/** Lets a fetch handler be the server of a history. The network around it fails as always. */
export class ApiServer implements WireServer {
  readonly #world: World
  readonly #api: SimulatedApi
  #effects: Effect[] = []
  #downUntil = 0

  constructor(world: World, api: SimulatedApi) {
    this.#world = world
    this.#api = api
  }

  listens(): boolean {
    return this.#world.calm || this.#world.timeline.now >= this.#downUntil
  }

  stopFor(ms: number): void {
    this.#world.happened('outage')
    this.#downUntil = this.#world.timeline.now + ms
  }

  effects(): readonly Effect[] {
    return this.#effects
  }

  receive(sent: Sent, reply: Reply): void {
    void this.#answer(sent, reply)
  }

  async #answer(sent: Sent, reply: Reply): Promise<void> {
    const { method, url, body } = sent
    const headers = new Headers(sent.headers.map(([name, value]): [string, string] => [name, value]))
    const request = new Request(url, { method, headers, body: body && new Uint8Array(body) })
    try {
      const { timeline } = this.#world
      const response = await timeline.outside(Promise.resolve(this.#api.fetch(request)))
      const text = await timeline.outside(response.text())
      await this.#count(sent)
      reply({ status: response.status, headers: [...response.headers], body: text })
    } catch (error) {
      this.#world.say('server', `throws: ${String(error)}`)
      reply({ status: 500, headers: [], body: '' })
    }
  }

  /** What this request did, by the server's own count. */
  async #count({ key, label, number }: Sent): Promise<void> {
    const before = this.#effects.filter((effect) => effect.key === key).length
    const now = await this.#world.timeline.outside(Promise.resolve(this.#api.effects(key)))
    for (let n = before; n < now; n++) {
      this.#effects.push({ key, label, sent: number, at: this.#world.timeline.now })
      this.#world.say('server', `does ${label} (request ${number})`)
      this.#world.oracle.done({ key, label, number })
    }
  }
}
