/** A server that fails for a moment, in a process of its own. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type Lag, watchLag } from '../lag.ts'
import { type BlipTrial, blipBeginsMs } from './blip-trial.ts'

interface Beginning {
  readonly is: 'begin'
  readonly trial: BlipTrial
  /** Epoch milliseconds with fractions, on the clock that both processes share. */
  readonly startAt: number
}

interface Listening {
  readonly is: 'listen'
  /** How long an answer takes. */
  readonly latencyMs?: number
}

export type BlipServerOrder = Beginning | Listening | { readonly is: 'report' }

export interface BlipServerReport {
  /** Idempotency key -> requests. */
  readonly requests: ReadonlyMap<string, number>
  /** Milliseconds from the start of the run, as the server itself saw them. */
  readonly failedFrom: number
  readonly failedUntil: number
  /** The most requests that were being answered at a time. */
  readonly mostAtOnce: number
  readonly lag: Lag
}

const LATENCY_MS = 10
/** Below the ports that the system hands out: nobody takes the port while the listener is closed. */
const PORTS = { first: 20_000, count: 10_000 }
const MOST_TRIES = 50

class BlipServer {
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => this.#handle(request, response))
  readonly #requests = new Map<string, number>()
  readonly #hanging = new Set<Socket>()
  #port = 0
  #trial: BlipTrial | undefined
  #startAt = 0
  #fails = false
  #failedFrom = Number.NaN
  #failedUntil = Number.NaN
  #answering = 0
  #mostAtOnce = 0
  readonly #latencyMs: number
  readonly #lag = watchLag()

  constructor({ latencyMs = LATENCY_MS }: Listening) {
    this.#latencyMs = latencyMs
  }

  async listen(): Promise<number> {
    for (let tried = 0; tried < MOST_TRIES; tried++) {
      this.#port = PORTS.first + Math.floor(Math.random() * PORTS.count)
      if (await this.#open().then(isTrue, isFalse)) return this.#port
    }
    throw new Error('There is no free port')
  }

  begin({ trial, startAt }: Beginning): void {
    this.#trial = trial
    this.#startAt = startAt
    const beginsMs = blipBeginsMs(trial)
    setTimeout(() => this.#fail(trial), beginsMs - this.#now)
    setTimeout(() => this.#recover(trial), beginsMs + trial.lastsMs - this.#now)
  }

  get report(): BlipServerReport {
    return {
      requests: this.#requests,
      failedFrom: this.#failedFrom,
      failedUntil: this.#failedUntil,
      mostAtOnce: this.#mostAtOnce,
      lag: this.#lag(),
    }
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  get #now(): number {
    return performance.timeOrigin + performance.now() - this.#startAt
  }

  async #open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  #fail({ fault }: BlipTrial): void {
    if (fault === 'refused') this.close()
    this.#fails = true
    this.#failedFrom = this.#now
  }

  async #recover({ fault }: BlipTrial): Promise<void> {
    if (fault === 'refused') await this.#open()
    this.#fails = false
    this.#failedUntil = this.#now
    for (const socket of this.#hanging) socket.destroy()
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    const key = String(request.headers['idempotency-key'])
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1)
    if (!this.#fails) this.#answer(response)
    else if (this.#trial?.fault === '503') response.writeHead(503).end()
    else if (this.#trial?.fault === 'hang') this.#hanging.add(request.socket)
    else request.socket.resetAndDestroy()
  }

  #answer(response: ServerResponse): void {
    this.#mostAtOnce = Math.max(this.#mostAtOnce, ++this.#answering)
    setTimeout(() => {
      this.#answering--
      response.end('{}')
    }, this.#latencyMs)
  }
}

const isTrue = (): boolean => true
const isFalse = (): boolean => false

let current: BlipServer | undefined

async function obey(order: BlipServerOrder): Promise<object | undefined> {
  if (order.is === 'listen') {
    current?.close()
    current = new BlipServer(order)
    return { port: await current.listen() }
  }
  if (order.is === 'begin') current?.begin(order)
  return order.is === 'report' ? current?.report : {}
}

process.on('message', async (order: BlipServerOrder) => process.send?.(await obey(order)))
process.on('disconnect', () => process.exit())
