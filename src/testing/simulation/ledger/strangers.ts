import type { Sent, WireAnswer } from '../wire.ts'
import type { World } from '../world.ts'

/** Takes a request to one of the replicas; calls back with its answer, or that the connection was cut. */
export type Deliver = (sent: Sent, reply: (answer: WireAnswer | 'reset') => void) => void

/** Longer than all holds-ups and freezes together. */
const MOST_TRIES = 40
const encoder = new TextEncoder()

/**
 * Callers that are no clients of ours: each sends one request, up to six copies of it at the same time, and repeats it
 * until it has a final answer. They bring a ledger more traffic around one key than a client that waits its turn.
 */
export class Strangers {
  readonly #world: World
  readonly #deliver: Deliver
  readonly #isFinal: (answer: WireAnswer) => boolean

  constructor(world: World, deliver: Deliver, isFinal: (answer: WireAnswer) => boolean) {
    this.#world = world
    this.#deliver = deliver
    this.#isFinal = isFinal
  }

  come(): void {
    const { plan, timeline } = this.#world
    plan.ledger.strangers.forEach(({ at, copies, withinMs, patienceMs }, index) => {
      const sent = strangerRequest(index + 1)
      const dice = this.#world.dice(`stranger ${index}`)
      timeline.at(at, () => this.#ask(sent, patienceMs))
      for (let n = 0; n < copies; n++) timeline.at(at + dice.between(0, withinMs), () => this.#send(sent, () => {}))
    })
  }

  #send(sent: Sent, reply: (answer: WireAnswer | 'reset') => void): void {
    this.#world.say('stranger', `sends ${sent.label}`)
    this.#deliver(sent, reply)
  }

  #ask(sent: Sent, patienceMs: number, tries = MOST_TRIES): void {
    const { timeline } = this.#world
    let isOver = false
    const again = (): void => {
      if (isOver) return
      isOver = true
      if (tries > 1) timeline.at(timeline.now + patienceMs, () => this.#ask(sent, patienceMs, tries - 1))
    }
    // A caller does not wait for ever for an answer.
    timeline.at(timeline.now + patienceMs * 2, again)
    this.#send(sent, (answer) => {
      if (answer === 'reset' || !this.#isFinal(answer)) return again()
      isOver = true
    })
  }
}

/** Requests of clients count from 1. */
function strangerRequest(index: number): Sent {
  const [key, label] = [`stranger-key-${index}`, `stranger-${index}`]
  const headers = [
    ['idempotency-key', `"${key}"`],
    ['content-type', 'application/json'],
  ] as const
  const body = encoder.encode(JSON.stringify({ op: label }))
  const url = 'https://api.example.com/strangers'
  return { number: -index, method: 'POST', url, headers, body, key, label, user: undefined }
}
