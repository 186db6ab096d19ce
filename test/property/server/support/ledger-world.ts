import { createLedger, type IdempotencyContext, json, type Ledger, type Reply } from '../../../../src/server/index.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'
import type { LedgerData } from './ledger-data.ts'
import { type MortalStore, mortalStore } from './mortal-store.ts'

/** How a handler that gets its turn ends. */
export type Outcome = 'done' | 'refused' | 'failed' | 'throws'

export type Step =
  | { readonly do: 'ask'; readonly server: number; readonly key: string; readonly outcome: Outcome }
  /** One of those who wait in a handler goes on. */
  | { readonly do: 'go'; readonly which: number }
  /** `seen`: the others know at once that it is dead. */
  | { readonly do: 'crash'; readonly server: number; readonly seen: boolean }
  | { readonly do: 'freeze' | 'thaw' | 'reap'; readonly server: number }
  | { readonly do: 'pass'; readonly ms: number }

interface Server {
  readonly mortal: MortalStore
  readonly ledger: Ledger
  readonly handler: (request: Request) => Promise<Response>
  isFrozen: boolean
}

interface Waiting {
  readonly server: Server
  readonly goOn: () => void
}

export interface Answered {
  readonly key: string
  readonly status: number
  readonly body: string
}

const STATUS = { done: 201, refused: 422, failed: 500 } as const
const SERVERS = 2

/** A few servers on one ledger, and handlers that go on only when they are told to. */
export class LedgerWorld {
  readonly answers: Answered[] = []
  readonly callsOutside: string[] = []
  readonly clock: ManualClock = manualClock()
  readonly #data: LedgerData
  readonly #external: boolean
  readonly #servers: Server[]
  #waiting: Waiting[] = []

  constructor(data: LedgerData, kind: 'effect' | 'external') {
    this.#data = data
    this.#external = kind === 'external'
    this.#servers = Array.from({ length: SERVERS }, () => this.#start())
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'ask') this.#ask(step.server, step.key, step.outcome)
    if (step.do === 'go') this.#goOn(step.which)
    if (step.do === 'crash') await this.#crash(step.server, step.seen ? 'seen' : 'silent')
    if (step.do === 'freeze') this.#freeze(this.#servers[step.server] as Server)
    if (step.do === 'thaw') this.#thaw(this.#servers[step.server] as Server)
    if (step.do === 'reap') void this.#servers[step.server]?.ledger.reap().catch(() => {})
    if (step.do === 'pass') await this.clock.advance(step.ms)
    await this.settle()
  }

  /** Lets everybody who lives come to an end. */
  async finish(): Promise<void> {
    for (const server of this.#servers) this.#thaw(server)
    for (let round = 0; round < 200 && (this.#waiting.length > 0 || round < 3); round++) {
      this.#goOn(0)
      await this.settle()
    }
    await this.clock.advance('61s')
    await this.settle()
  }

  /** Asks a server that nothing happens to until there is a last word, or none is to be had. */
  async lastWord(key: string): Promise<Answered | undefined> {
    for (let round = 0; round < 4; round++) {
      const before = this.answers.length
      this.#ask(0, key, 'done')
      await this.settle()
      await this.finish()
      const answered = this.answers.slice(before).find((each) => each.key === key)
      if (answered && answered.status !== 409 && answered.status < 500) return answered
    }
    return undefined
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  #start(): Server {
    const mortal = mortalStore(this.#data.connect())
    const ledger = createLedger({ store: mortal.store, scope: 'public', clock: this.clock })
    const work = this.#external ? this.#callOutside : this.#charge
    const run = (request: Request, context: IdempotencyContext): Promise<Reply> =>
      work.call(this, server, request, context)
    const handler = ledger.protect(run as never, this.#external ? { external: true } : {})
    const server: Server = { mortal, ledger: ledger as unknown as Ledger, handler, isFrozen: false }
    return server
  }

  async #charge(server: Server, request: Request, { effect, key = '' }: IdempotencyContext): Promise<Reply> {
    await this.#pause(server)
    const end = (): Reply => outcomeOf(request, key)
    const answer = await effect((tx) => {
      this.#data.write(tx, key)
      return this.#data.waits ? this.#pause(server).then(end) : end()
    })
    await this.#pause(server)
    return answer
  }

  async #callOutside(server: Server, request: Request, { key = '' }: IdempotencyContext): Promise<Reply> {
    await this.#pause(server)
    this.callsOutside.push(key)
    await this.#pause(server)
    return outcomeOf(request, key)
  }

  #pause(server: Server): Promise<void> {
    return new Promise((goOn) => void this.#waiting.push({ server, goOn }))
  }

  #goOn(which: number): void {
    const able = this.#waiting.filter(({ server }) => !server.isFrozen)
    const next = able[which % Math.max(1, able.length)]
    if (!next) return
    this.#waiting = this.#waiting.filter((each) => each !== next)
    next.goOn()
  }

  #ask(server: number, key: string, outcome: Outcome): void {
    const headers = { 'idempotency-key': key, 'x-outcome': outcome, 'content-type': 'application/json' }
    const request = new Request('http://127.0.0.1/charges', { method: 'POST', headers, body: '{"amount":5}' })
    const asked = this.#servers[server % SERVERS]?.handler(request)
    asked
      ?.then(async (response) => void this.answers.push({ key, status: response.status, body: await response.text() }))
      .catch(() => {})
  }

  async #crash(at: number, how: 'seen' | 'silent'): Promise<void> {
    const server = this.#servers[at % SERVERS] as Server
    server.mortal.die()
    this.#waiting = this.#waiting.filter((each) => each.server !== server)
    if (how === 'seen') await server.mortal.store.close()
    this.#servers[at % SERVERS] = this.#start()
  }

  #freeze(server: Server): void {
    if (server.isFrozen) return
    server.isFrozen = true
    server.mortal.freeze()
  }

  #thaw(server: Server): void {
    server.isFrozen = false
    server.mortal.thaw()
  }
}

function outcomeOf(request: Request, key: string): Reply {
  const outcome = request.headers.get('x-outcome') as Outcome
  if (outcome === 'throws') throw new Error('the handler failed')
  return json({ key, outcome }, { status: STATUS[outcome] })
}
