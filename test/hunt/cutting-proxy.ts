import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { BlowTable } from '../support/blow-table.ts'
import type { HuntBlow, NetworkBlow } from './hunt-blows.ts'
import { pause } from './pause.ts'

/** What may become of a request on its way, and how often where the dice decide. */
const FATES: Readonly<Record<Exclude<NetworkBlow, 'copied'> | 'straight' | 'delayed', number>> = {
  straight: 44,
  delayed: 10,
  'cut before': 8,
  'cut after': 10,
  'cut within': 8,
  'cut while working': 6,
  doubled: 8,
  'doubled late': 6,
}

/** Beside each request, and within this time after it. */
const MOST_COPIES = 3
const COPIES_WITHIN_MS = 300

type Fate = keyof typeof FATES

interface Answered {
  readonly status: number
  readonly headers: IncomingMessage['rawHeaders']
  readonly body: Buffer
}

interface Passing {
  readonly inbound: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

/** Stands between the client and the replicas of the server, and breaks what passes through. */
export class CuttingProxy {
  /** How many final answers of the servers came by, by key. */
  readonly answers = new Map<string, { fresh: number; replayed: number }>()
  readonly #blows: BlowTable<HuntBlow>
  readonly #random: () => number
  readonly #upstreams: () => readonly number[]
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server: Server
  readonly #under = new Set<Promise<void>>()
  /** Lets everything through from now on. */
  isPeaceful = false
  requests = 0

  /** `upstreams`: the ports of the replicas that are up. */
  constructor(blows: BlowTable<HuntBlow>, random: () => number, upstreams: () => readonly number[]) {
    this.#blows = blows
    this.#random = random
    this.#upstreams = upstreams
    this.#server = createServer((inbound, response) => this.#track(this.#pass(inbound, response)))
    this.#server.keepAliveTimeout = 60_000
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when nothing is on its way any more, late doubles included. */
  async idle(): Promise<void> {
    while (this.#under.size > 0) await Promise.allSettled(this.#under)
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  #track(passing: Promise<void>): void {
    const tracked: Promise<void> = passing.catch(() => {}).finally(() => this.#under.delete(tracked))
    this.#under.add(tracked)
  }

  async #pass(inbound: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++
    const fate = this.isPeaceful ? 'straight' : this.#roll()
    try {
      const passing = { inbound, response, body: await buffer(inbound) }
      if (!this.isPeaceful) this.#copy(passing)
      await this.#meet(fate, passing)
    } catch {
      // The replica was killed, or none is up: the client sees a connection that breaks.
      response.destroy()
    }
  }

  async #meet(fate: Fate, passing: Passing): Promise<void> {
    const { response } = passing
    if (fate === 'cut before') return this.#cutBefore(passing)
    if (fate === 'cut while working') return this.#cutWhileWorking(passing)
    if (fate === 'delayed') await pause(this.#random() * 400)
    const twin = fate === 'doubled' ? this.#forward(passing) : undefined
    if (twin) this.#track(twin.then(() => this.#blows.struck('doubled')))
    const answer = await this.#forward(passing)
    if (fate === 'cut after' || fate === 'cut within') this.#blows.struck(fate)
    if (fate === 'cut after') return void response.destroy()
    if (fate === 'cut within') return cutWithin(response, answer, this.#random())
    if (fate === 'doubled late') this.#track(this.#again(passing))
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }

  /** Around every request: while it is served, or just before, or just after. */
  #copy(passing: Passing): void {
    for (let copies = 1 + Math.floor(this.#random() * MOST_COPIES); copies > 0; copies--) {
      const sent = pause(this.#random() * COPIES_WITHIN_MS).then(() => this.#forward(passing))
      this.#track(sent.then(() => this.#blows.struck('copied')))
    }
  }

  async #cutBefore(passing: Passing): Promise<void> {
    passing.response.destroy()
    this.#blows.struck('cut before')
    if (this.#random() < 0.5) return
    const outgoing = this.#open(passing)
    outgoing.on('error', () => {})
    outgoing.write(passing.body.subarray(0, Math.floor(this.#random() * passing.body.length)))
    await pause(this.#random() * 20)
    outgoing.destroy()
  }

  async #cutWhileWorking(passing: Passing): Promise<void> {
    const outgoing = this.#open(passing)
    outgoing.on('error', () => {}).end(passing.body)
    await pause(this.#random() * 150)
    if (outgoing.destroyed) throw new Error('The replica was killed meanwhile')
    outgoing.destroy()
    this.#blows.struck('cut while working')
    passing.response.destroy()
  }

  async #again(passing: Passing): Promise<void> {
    await pause(this.#random() * 4000)
    await this.#forward(passing)
    this.#blows.struck('doubled late')
  }

  #forward(passing: Passing): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(passing)
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        const { statusCode: status = 0, rawHeaders: headers } = incoming
        this.#note(passing, incoming)
        buffer(incoming).then((body) => resolve({ status, headers, body }), reject)
      })
      outgoing.end(passing.body)
    })
  }

  #note({ inbound }: Passing, { statusCode = 0, headers }: IncomingMessage): void {
    const isReplayed = headers['idempotency-replayed'] === 'true'
    // The shop's own answers: what the ledger says for itself, or for now, is no answer of the work.
    if (!isReplayed && statusCode !== 201 && statusCode !== 402) return
    const key = String(inbound.headers['idempotency-key']).replaceAll('"', '')
    const seen = this.answers.get(key) ?? { fresh: 0, replayed: 0 }
    seen[isReplayed ? 'replayed' : 'fresh']++
    this.answers.set(key, seen)
  }

  #open({ inbound }: Passing): ReturnType<typeof request> {
    const ports = this.#upstreams()
    const port = ports[Math.floor(this.#random() * ports.length)]
    if (port === undefined) throw new Error('No replica is up')
    const { method, url: path, headers } = inbound
    const outgoing = request({ agent: this.#agent, host: '127.0.0.1', port, method, path, headers, timeout: 20_000 })
    return outgoing.on('timeout', () => outgoing.destroy(new Error('No answer')))
  }

  /** Every other request meets a blow that is still due, as long as there is one. */
  #roll(): Fate {
    const { due } = this.#blows
    const blow = due[Math.floor(this.#random() * due.length)]
    if (blow && blow in FATES && this.#random() < 0.5) return blow as Fate
    const fates = Object.entries(FATES) as [Fate, number][]
    let left = this.#random() * fates.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [fate, weight] of fates) {
      left -= weight
      if (left < 0) return fate
    }
    return 'straight'
  }
}

async function cutWithin(response: ServerResponse, { status, headers, body }: Answered, share: number): Promise<void> {
  response.writeHead(status, headers)
  response.flushHeaders()
  response.write(body.subarray(0, Math.floor(share * body.length)))
  await pause(5)
  response.destroy()
}
