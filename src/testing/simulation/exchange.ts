import type { TransportOutcome, TransportResponse } from '../../client/transport/port.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Sent, WireAnswer } from './wire.ts'
import type { World } from './world.ts'

const encoder = new TextEncoder()

/** One request and what its process comes to know of it. */
export class Exchange {
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

  end(answer: WireAnswer | 'reset'): void {
    if (answer === 'reset') this.fault('ECONNRESET')
    else this.answer(answer)
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
