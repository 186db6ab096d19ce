import { performance } from 'node:perf_hooks'
import { Child } from '../child.ts'
import type { BlipClientOrder, BlipClientReport } from './blip-client-program.ts'
import { type BlipRow, blipRow } from './blip-row.ts'
import type { BlipServerOrder, BlipServerReport } from './blip-server-program.ts'
import type { BlipTrial, ClientName } from './blip-trial.ts'

/** Both processes must know their trial before it begins. */
const LEAD_MS = 500

/** One kind of client and a server of its own, each in a process, for any number of trials. */
export class BlipPair {
  readonly #name: ClientName
  readonly #client: Child
  readonly #server: Child

  private constructor(name: ClientName, client: Child, server: Child) {
    this.#name = name
    this.#client = client
    this.#server = server
  }

  static async start(name: ClientName): Promise<BlipPair> {
    const server = await Child.start('blips/blip-server-program')
    const pair = new BlipPair(name, await Child.start('blips/blip-client-program'), server)
    const url = await pair.#listen()
    await pair.#client.ask({ client: name, url, startAt: 0 } satisfies BlipClientOrder)
    return pair
  }

  async run(trial: BlipTrial): Promise<BlipRow> {
    const url = await this.#listen()
    const startAt = performance.timeOrigin + performance.now() + LEAD_MS
    await this.#server.ask({ is: 'begin', trial, startAt } satisfies BlipServerOrder)
    const order: BlipClientOrder = { client: this.#name, url, startAt, trial }
    const client = await this.#client.ask<BlipClientReport>(order)
    const server = await this.#server.ask<BlipServerReport>({ is: 'report' } satisfies BlipServerOrder)
    return blipRow(trial, this.#name, { client, server })
  }

  async end(): Promise<void> {
    await Promise.all([this.#client.end(), this.#server.end()])
  }

  /** Each trial has a port of its own: no connection of the trial before is left. */
  async #listen(): Promise<string> {
    const { port } = await this.#server.ask<{ port: number }>({ is: 'listen' } satisfies BlipServerOrder)
    return `http://127.0.0.1:${port}/`
  }
}
