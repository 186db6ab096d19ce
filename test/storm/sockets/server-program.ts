/** A server with a capacity, in a process of its own, so that it does not share an event loop with its clients. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { uniform } from '../dice.ts'
import type { Answering } from '../fleet.ts'
import type { Reply } from '../server-model.ts'
import { type Lag, watchLag } from './lag.ts'
import { serverOf } from './server-of.ts'
import type { Trial } from './trials.ts'

interface Beginning {
  readonly is: 'begin'
  readonly trial: Trial
  readonly seed: number
  /** Epoch milliseconds with fractions, on the clock that both processes share. */
  readonly startAt: number
}

export type ServerOrder = Beginning | { readonly is: 'listen' | 'report' }

export interface ServerReport {
  readonly requestsAt: readonly number[]
  readonly lag: Lag
}

class CapacityServer {
  readonly #model: Answering
  readonly #latencyMs: readonly [number, number]
  readonly #startAt: number
  readonly #random: () => number
  readonly requestsAt: number[] = []

  constructor({ trial, seed, startAt }: Beginning) {
    this.#model = serverOf(trial, seed)
    this.#latencyMs = trial.scenario.latencyMs
    this.#startAt = startAt
    this.#random = seededRandom(`${seed}:network`)
  }

  get #now(): number {
    return performance.timeOrigin + performance.now() - this.#startAt
  }

  /** Loopback has no latency to speak of: both ways of the scenario's are waited for here. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    setTimeout(() => {
      this.requestsAt.push(this.#now)
      const reply = this.#model.arrive(this.#now)
      setTimeout(() => answer(request, response, reply), reply.at - this.#now + this.#latency())
    }, this.#latency())
  }

  #latency(): number {
    return uniform(this.#latencyMs[0], this.#latencyMs[1], this.#random)
  }
}

/** A server that is down breaks the connection, unless there is something in front of it that says when to come back. */
function answer(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (reply.is === 'served') response.end('{}')
  else if (reply.retryAfterMs !== undefined) {
    response.writeHead(503, { 'retry-after': String(Math.ceil(reply.retryAfterMs / 1000)) }).end()
  } else if (reply.because === 'down') request.socket.destroy()
  else response.writeHead(503).end()
}

let current: CapacityServer | undefined
let lagSoFar = watchLag()

const server = createServer((request, response) => {
  if (current) current.handle(request, response)
  // Before the trial the clients warm up.
  else response.end('{}')
})

async function obey(order: ServerOrder): Promise<object> {
  if (order.is === 'begin') {
    lagSoFar = watchLag()
    current = new CapacityServer(order)
    return {}
  }
  if (order.is === 'report') return { requestsAt: current?.requestsAt ?? [], lag: lagSoFar() } satisfies ServerReport
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port }
}

process.on('message', async (order: ServerOrder) => process.send?.(await obey(order)))
process.on('disconnect', () => process.exit())
