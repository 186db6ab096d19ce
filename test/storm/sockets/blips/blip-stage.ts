import { performance } from 'node:perf_hooks'
import { Child } from '../child.ts'
import type { BlipClientOrder, BlipClientReport } from './blip-client-program.ts'
import { type BlipRow, blipRow } from './blip-row.ts'
import type { BlipServerOrder, BlipServerReport } from './blip-server-program.ts'
import type { BlipTrial, ClientName } from './blip-trial.ts'

/** Both processes must know their trial before it begins. */
const LEAD_MS = 500

/** One kind of client, a server of its own that fails and one that is well, each in a process, for any number of trials. */
export class BlipStage {
  readonly #name: ClientName
  readonly #client: Child
  readonly #server: Child
  readonly #beside: Child

  private constructor(name: ClientName, client: Child, servers: readonly [failing: Child, beside: Child]) {
    this.#name = name
    this.#client = client
    this.#server = servers[0]
    this.#beside = servers[1]
  }

  static async start(name: ClientName): Promise<BlipStage> {
    const servers = [
      await Child.start('blips/blip-server-program'),
      await Child.start('blips/blip-server-program'),
    ] as const
    const stage = new BlipStage(name, await Child.start('blips/blip-client-program'), servers)
    await stage.#client.ask({ client: name, ...(await stage.#listen()), startAt: 0 } satisfies BlipClientOrder)
    return stage
  }

  async run(trial: BlipTrial): Promise<BlipRow> {
    const urls = await this.#listen()
    const startAt = performance.timeOrigin + performance.now() + LEAD_MS
    await this.#server.ask({ is: 'begin', trial, startAt } satisfies BlipServerOrder)
    const order: BlipClientOrder = { client: this.#name, ...urls, startAt, trial }
    const client = await this.#client.ask<BlipClientReport>(order)
    const server = await this.#server.ask<BlipServerReport>({ is: 'report' } satisfies BlipServerOrder)
    return blipRow(trial, this.#name, { client, server })
  }

  async end(): Promise<void> {
    await Promise.all([this.#client.end(), this.#server.end(), this.#beside.end()])
  }

  /** Each trial has a port of its own: no connection of the trial before is left. */
  async #listen(): Promise<Pick<BlipClientOrder, 'url' | 'besideUrl'>> {
    const [url, besideUrl] = await Promise.all([urlOf(this.#server), urlOf(this.#beside)])
    return { url, besideUrl }
  }
}

async function urlOf(server: Child): Promise<string> {
  const { port } = await server.ask<{ port: number }>({ is: 'listen' } satisfies BlipServerOrder)
  return `http://127.0.0.1:${port}/`
}
