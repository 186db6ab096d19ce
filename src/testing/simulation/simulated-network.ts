import type {
  DropIn,
  Transport,
  TransportOutcome,
  TransportRequest,
  TransportResponse,
} from '../../client/transport/port.ts'
import { onAbort } from '../../foundation/abort.ts'
import { headerValue } from '../../protocol/headers.ts'
import type { SimulatedBrowser } from './simulated-browser.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Reply, Sent, WireAnswer, WireServer } from './wire.ts'
import type { World } from './world.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

const BAD_GATEWAY: WireAnswer = { status: 502, headers: [['content-type', 'text/html']], body: '<h1>Bad gateway</h1>' }

/** What routers and gateways say of a server that they do not find, or of a request that they do not like. */
const ROUTER_ANSWERS: readonly WireAnswer[] = [
  { status: 404, headers: [['content-type', 'text/plain']], body: '404 page not found' },
  { status: 400, headers: [['content-type', 'text/html']], body: '<h1>400 Bad Request</h1>' },
  { status: 403, headers: [], body: '' },
  BAD_GATEWAY,
]

/** Between the processes and the server: loses, delays, doubles and reorders. */
export class SimulatedNetwork {
  readonly #world: World
  readonly #server: WireServer
  readonly #browser: SimulatedBrowser
  #count = 0

  constructor(world: World, server: WireServer, browser: SimulatedBrowser) {
    this.#world = world
    this.#browser = browser
    this.#server = server
  }

  transportOf(process: SimulatedProcess): Transport {
    return { send: (request) => new Promise((resolve) => this.#send(process, request, resolve)) }
  }

  #send(process: SimulatedProcess, request: TransportRequest, resolve: (outcome: TransportOutcome) => void): void {
    if (!process.reach('send:leaving')) return
    const sent = this.#describe(request)
    const isDropIn = request.dropIn !== undefined
    const call = new Exchange(this.#world, { process, sent, resolve, isDropIn })
    this.#world.say(
      process.name,
      `sends ${sent.label}, request ${sent.number} (attempt ${headerValue(sent.headers, 'holdfast-attempt')})`,
    )
    this.#world.oracle.sent(process, sent)
    onAbort(request.signal, () => call.fault('aborted'))
    const dice = this.#world.dice('network')
    const delay = dice.between(1, 30) + (this.#world.strikes('slow-network') ? dice.between(500, 15_000) : 0)
    const { timeline } = this.#world
    if (!this.#browser.isOnline || this.#world.strikes('refused')) call.later(delay, () => call.refuse())
    else if (this.#world.strikes('request-lost')) call.later(delay, () => call.fault('ECONNRESET'))
    else timeline.at(timeline.now + delay, () => this.#arrive(call))
    process.reach('send:travelling')
  }

  /** A proxy or a driver sends the request once more, at once or much later. Its answer goes nowhere. */
  #duplicate({ sent }: Exchange): void {
    const { timeline } = this.#world
    const again = (after: number): void => {
      timeline.at(timeline.now + after, () => {
        this.#world.say('network', `delivers request ${sent.number} (${sent.label}) once more`)
        if (this.#server.listens()) this.#server.receive(sent, () => {})
      })
    }
    if (this.#world.strikes('duplicate')) again(this.#world.dice('duplicate').between(0, 20))
    if (this.#world.strikes('late-duplicate')) again(this.#world.dice('duplicate').between(5000, 90_000))
    if (this.#world.plan.server === 'ledger' && this.#world.strikes('duplicate-burst')) this.#burst(again)
  }

  /** Up to six more, some at the same time, while the first one is being served. */
  #burst(again: (after: number) => void): void {
    const dice = this.#world.dice('duplicate-burst')
    const within = dice.pick([20, 500, 4000, 30_000])
    for (let copies = dice.between(1, 6); copies > 0; copies--) again(dice.between(0, within))
  }

  #arrive(call: Exchange): void {
    if (!this.#server.listens()) {
      call.later(1, () => call.refuse())
      return
    }
    if (this.#world.strikes('router-answers')) {
      call.later(1, () => call.answer(this.#world.dice('router').pick(ROUTER_ANSWERS)))
      return
    }
    this.#duplicate(call)
    const dice = this.#world.dice('network')
    const lost = this.#world.strikes('answer-lost')
    const halfOpen = this.#world.strikes('half-open')
    this.#receive(call, (answer) => {
      const delay = dice.between(1, 30)
      if (halfOpen) return
      if (lost || answer === 'reset') call.later(delay, () => call.fault('ECONNRESET'))
      else if (answer.status < 300 && this.#world.strikes('body-lost')) call.later(delay, () => call.loseBody(answer))
      else call.later(delay, () => call.answer(answer))
    })
  }

  /** A router that gets no answer, or does not like it, sends the request again, and passes the second answer on. */
  #receive({ sent }: Exchange, reply: Reply): void {
    if (!this.#world.strikes('router-retries')) {
      this.#server.receive(sent, reply)
      return
    }
    this.#server.receive(sent, () => {
      this.#world.say('network', `a router sends request ${sent.number} (${sent.label}) again`)
      if (this.#server.listens()) this.#server.receive(sent, reply)
      else reply(BAD_GATEWAY)
    })
  }

  #describe(request: TransportRequest): Sent {
    const { method, url, headers, body } = request.dropIn ? asFetched(request, request.dropIn) : request
    const text = body ? decoder.decode(body) : ''
    return {
      number: ++this.#count,
      method,
      url,
      headers,
      body: body && new Uint8Array(body),
      key: headerValue(headers, 'idempotency-key') ?? '',
      label: text.split('"')[3] ?? '',
    }
  }
}

/** As the platform's fetch would send it. */
function asFetched({ method, headers }: TransportRequest, dropIn: DropIn): Omit<Sent, 'number' | 'key' | 'label'> {
  const { input, init } = dropIn.arguments()
  const all = new Headers(dropIn.headers)
  for (const [name, value] of headers) all.set(name, value)
  const body = typeof init.body === 'string' ? encoder.encode(init.body) : (init.body as Uint8Array | null)
  return { method, url: String(input), headers: [...all], body }
}

/** One request and what its process comes to know of it. */
class Exchange {
  readonly sent: Sent
  readonly #world: World
  readonly #process: SimulatedProcess
  readonly #resolve: (outcome: TransportOutcome) => void
  readonly #isDropIn: boolean
  #over = false

  constructor(
    world: World,
    parts: {
      readonly isDropIn: boolean
      readonly process: SimulatedProcess
      readonly sent: Sent
      readonly resolve: (outcome: TransportOutcome) => void
    },
  ) {
    this.#world = world
    this.#process = parts.process
    this.sent = parts.sent
    this.#isDropIn = parts.isDropIn
    this.#resolve = parts.resolve
  }

  later(ms: number, happen: () => void): void {
    this.#process.later(ms, happen)
  }

  refuse(): void {
    this.#end('ECONNREFUSED', {
      kind: 'fault',
      code: 'ECONNREFUSED',
      mayHaveArrived: false,
      transient: true,
      cause: undefined,
    })
  }

  fault(code: string): void {
    this.#end(code, { kind: 'fault', code, mayHaveArrived: true, transient: true, cause: undefined })
  }

  /** The head of a success arrives, and its body does not. */
  loseBody(answer: WireAnswer): void {
    // A fetch has its answer with the head; what becomes of the body is between the platform and its caller.
    if (this.#isDropIn) {
      this.answer(answer)
      return
    }
    const { status, headers } = answer
    const fault = {
      kind: 'fault',
      code: 'ECONNRESET',
      mayHaveArrived: true,
      transient: true,
      cause: undefined,
    } as const
    this.#end(`${status} without its body`, { ...fault, head: { status, headers, redirected: false } })
  }

  answer({ status, headers, body }: WireAnswer): void {
    if (this.#over || !this.#process.reach('send:answered')) return
    const { url } = this.sent
    const plain = { statusText: '', url, redirected: false, ...this.#contentOf({ status, headers, body }) }
    this.#end(String(status), { kind: 'response', status, headers, ...plain })
  }

  #contentOf({ status, headers, body }: WireAnswer): Pick<TransportResponse, 'body' | 'rest'> {
    if (!this.#isDropIn) return { body: encoder.encode(body) }
    const rest = new Response(body, {
      status,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
    })
    return { body: status === 409 || status === 422 ? encoder.encode(body) : null, rest }
  }

  #end(word: string, outcome: TransportOutcome): void {
    if (this.#over || !this.#process.alive) return
    this.#over = true
    this.#world.say(this.#process.name, `gets the end of request ${this.sent.number} (${this.sent.label}): ${word}`)
    this.#world.oracle.exchangeEnded(this.#process, this.sent, outcome)
    this.#resolve(outcome)
  }
}
