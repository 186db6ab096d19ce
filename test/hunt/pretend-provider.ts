import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pause } from './pause.ts'

export interface Charge {
  readonly id: string
  readonly reference: string
  /** Of the operation that is paid for. */
  readonly number: number
  /** Epoch milliseconds. */
  readonly at: number
}

/**
 * A payment provider that honours keys: the same key is the same charge. It is slow and fails now and then, before and
 * after it has charged; it is never killed, so it can be asked what really happened.
 */
export class PretendProvider {
  /** What was really charged, by the reference of the one who pays. */
  readonly charges = new Map<string, Charge[]>()
  readonly #byKey = new Map<string, Charge>()
  readonly #random: () => number
  readonly #server: Server
  requests = 0

  constructor(random: () => number) {
    this.#random = random
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = String(request.headers['idempotency-key'])
    if (request.method === 'GET') return send(response, this.#byKey.get(key))
    const reference = request.url?.slice('/charges/'.length) ?? ''
    const number = Number(await text(request))
    this.requests++
    // Sometimes it charges only after the one who asked has given up, and has asked whether it did.
    await pause(this.#random() * (this.#random() < 0.15 ? 1500 : 60))
    if (this.#random() < 0.08) return send(response, undefined, 503)
    const charge = this.#charge(key, { reference, number })
    await pause(this.#random() * 60)
    if (this.#random() < 0.08) return void response.destroy()
    send(response, charge, 201)
  }

  #charge(key: string, of: Pick<Charge, 'reference' | 'number'>): Charge {
    const before = this.#byKey.get(key)
    if (before) return before
    const { reference } = of
    const charge = { id: `ch_${this.#byKey.size + 1}`, ...of, at: Date.now() }
    this.#byKey.set(key, charge)
    this.charges.set(reference, [...(this.charges.get(reference) ?? []), charge])
    return charge
  }
}

function send(response: ServerResponse, charge: Charge | undefined, status = charge ? 200 : 404): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(charge ?? null))
}
