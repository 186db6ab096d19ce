import { fetchTransport } from '../../client/transport/fetch/fetch-transport.ts'
import { sendHops } from '../../client/transport/fetch/send-hops.ts'
import { toNodeFault } from '../../client/transport/node-fault.ts'
import type { DropIn, Transport, TransportOutcome, TransportRequest } from '../../client/transport/port.ts'
import { onAbort } from '../../foundation/abort.ts'
import { headerValue } from '../../protocol/headers.ts'
import type { Dice } from './dice.ts'
import { Exchange } from './exchange.ts'
import { refusingAnswer } from './gates.ts'
import type { Trouble } from './plan.ts'
import type { SimulatedBrowser } from './simulated-browser.ts'
import { type Outgoing, simulatedFetch } from './simulated-fetch.ts'
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
    const exchange = (request: Outgoing): Promise<TransportOutcome> =>
      new Promise((resolve) => this.#send(process, request, resolve))
    if (this.#world.plan.faults.has('fetch-retries'))
      return fetchTransport(simulatedFetch(exchange), { send: sendHops, toFault: toNodeFault })
    return { send: (request) => exchange(outgoing(request)) }
  }

  #send(process: SimulatedProcess, request: Outgoing, resolve: (outcome: TransportOutcome) => void): void {
    if (!process.reach('send:leaving')) return
    const sent = this.#describe(request)
    const { isDropIn } = request
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
    const trouble = this.#world.troubleOf(call.sent.url)
    if (trouble) this.#meet(trouble, call)
    else this.#serve(call)
  }

  /** Its API is in trouble. */
  #meet({ kind }: Trouble, call: Exchange): void {
    const dice = this.#world.dice('troubles')
    const [isDone, ms] = [dice.chance(0.5), dice.between(0, 1000)]
    if (kind === 'refuses') call.later(1, () => call.refuse())
    else if (kind === 'errors') call.later(1 + (ms % 10), () => call.answer(refusingAnswer(dice.pick([500, 502, 503]))))
    else if (kind === 'throttles') call.later(1 + (ms % 10), () => call.answer(throttled(dice)))
    else if (kind === 'slow')
      this.#server.receive(call.sent, (answer) => call.later(1000 + 5 * ms, () => call.end(answer)))
    else {
      if (isDone) this.#server.receive(call.sent, () => {})
      if (kind === 'resets') call.later(1 + (ms % 50), () => call.fault('ECONNRESET'))
    }
  }

  #serve(call: Exchange): void {
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
      if (lost || answer === 'reset') call.later(delay, () => this.#lose(call))
      else if (answer.status < 300 && this.#world.strikes('body-lost')) call.later(delay, () => call.loseBody(answer))
      else call.later(delay, () => call.answer(answer))
    })
  }

  /** No answer comes. A fetch that tries again by itself shows only what became of its last try, which may meet a router. */
  #lose(call: Exchange): void {
    if (!this.#world.strikes('fetch-retries')) {
      call.fault('ECONNRESET')
      return
    }
    const { sent } = call
    this.#world.say('network', `the fetch of the program tries request ${sent.number} (${sent.label}) again`)
    // A server that ignores keys does everything again that arrives: no client can help that.
    const isRefused = this.#world.dice('fetch-retries').chance(0.6) || this.#world.plan.server === 'ignores-keys'
    if (isRefused || !this.#server.listens()) call.later(1, () => call.refuse())
    else if (this.#world.dice('fetch-retries').chance(0.5))
      call.later(1, () => call.answer(this.#world.dice('router').pick(ROUTER_ANSWERS)))
    else this.#server.receive(sent, (answer) => call.later(1, () => call.end(answer)))
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

  #describe({ method, url, headers, body }: Outgoing): Sent {
    const text = body ? decoder.decode(body) : ''
    return {
      number: ++this.#count,
      method,
      url,
      headers,
      body: body && new Uint8Array(body),
      key: headerValue(headers, 'idempotency-key') ?? '',
      label: text.split('"')[3] ?? '',
      user: this.#world.user,
    }
  }
}

function outgoing(request: TransportRequest): Outgoing {
  const { method, url, headers, body, signal, dropIn } = request
  if (dropIn) return { ...asFetched(request, dropIn), signal, isDropIn: true }
  return { method, url, headers, body, signal, isDropIn: false }
}

/** As the platform's fetch would send it. */
function asFetched({ method, headers }: TransportRequest, dropIn: DropIn): Omit<Outgoing, 'signal' | 'isDropIn'> {
  const { input, init } = dropIn.arguments()
  const all = new Headers(dropIn.headers)
  for (const [name, value] of headers) all.set(name, value)
  const body = typeof init.body === 'string' ? encoder.encode(init.body) : (init.body as Uint8Array | null)
  return { method, url: String(input), headers: [...all], body }
}

function throttled(dice: Dice): WireAnswer {
  const seconds = dice.pick([undefined, 1, 1, 3, 20])
  return refusingAnswer(429, seconds === undefined ? [] : [['retry-after', String(seconds)]])
}
