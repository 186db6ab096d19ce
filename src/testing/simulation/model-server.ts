import { PROBLEM } from '../../protocol/problem-details.ts'
import { Gates, refusingAnswer } from './gates.ts'
import type { Effect, Reply, Sent, WireAnswer, WireServer } from './wire.ts'
import type { World } from './world.ts'

/** What the server has written down about a key. Effect and answer are written in one transaction. */
interface Entry {
  readonly sent: Sent
  readonly body: string
  readonly since: number
  /** Undefined while it is being worked on. */
  answer: WireAnswer | undefined
}

/** Known only to client and server; must never be seen anywhere else. */
export const SECRET = 'hf-s3cr3t'

/**
 * A server that honours the key: the first request with a key takes effect, every further one gets the outcome of the first.
 * In some histories it is one that ignores keys: every POST and PATCH takes effect.
 */
export class ModelServer implements WireServer {
  readonly #world: World
  readonly #ledger = new Map<string, Entry>()
  readonly #gates: Gates
  readonly #effects: Effect[] = []
  #downUntil = 0
  /** Grows with each crash: what an earlier life was working on is gone. */
  #life = 0

  constructor(world: World) {
    this.#world = world
    this.#gates = new Gates(world)
  }

  listens(): boolean {
    return this.#world.calm || this.#world.timeline.now >= this.#downUntil
  }

  effects(): readonly Effect[] {
    return this.#effects
  }

  stopFor(ms: number): void {
    this.#world.happened('outage')
    this.#crash(ms)
  }

  receive(sent: Sent, reply: Reply): void {
    const known = this.#gates.of(sent) ?? (this.#ignoresKeys ? undefined : this.#knownAnswer(sent))
    if (known) reply(known)
    else this.#work(sent, reply)
  }

  get #ignoresKeys(): boolean {
    return this.#world.plan.server === 'ignores-keys'
  }

  /** What the ledger says to a key that it has seen before. */
  #knownAnswer(sent: Sent): WireAnswer | undefined {
    const { timeline, plan, oracle } = this.#world
    const known = this.#ledger.get(sent.key)
    const forgotten = known?.answer && timeline.now - known.since > plan.windowMs
    if (!known || forgotten) return undefined
    if (known.body !== text(sent) || known.sent.url !== sent.url) return problem(422, PROBLEM.keyReused)
    oracle.observed(known.answer ? 'replayed answer' : 'in-flight answer')
    return known.answer ? replayed(known.answer) : problem(409, PROBLEM.inFlight)
  }

  #work(sent: Sent, reply: Reply): void {
    const { timeline } = this.#world
    const entry: Entry = { sent, body: text(sent), since: timeline.now, answer: undefined }
    this.#ledger.set(sent.key, entry)
    const life = this.#life
    const dice = this.#world.dice('server')
    const drawnMs = dice.pick([0, dice.between(1, 50), dice.between(50, 3000)])
    const ms = this.#world.plan.isQuiet ? drawnMs % 30 : drawnMs
    const crashes = this.#world.strikes('server-crash-before')
    timeline.at(timeline.now + ms, () => {
      if (life !== this.#life) reply('reset')
      else if (crashes) this.#crashAnd(reply)
      else this.#finish(entry, reply)
    })
  }

  #finish(entry: Entry, reply: Reply): void {
    const world = this.#world
    if (world.strikes('declined')) entry.answer = refusingAnswer(world.dice('declined').pick([400, 402, 404, 409, 422]))
    else {
      const odd = world.strikes('odd-body')
      const body = odd ? world.dice('odd-body').pick(['', '<html>done</html>']) : `{"done":"${entry.sent.label}"}`
      entry.answer = { status: 201, headers: [['set-cookie', `session=${SECRET}`]], body }
      this.#do(entry.sent)
    }
    if (world.strikes('server-crash-after')) this.#crashAnd(reply)
    else if (world.strikes('gateway-error-after')) reply(refusingAnswer(502))
    else if (world.strikes('do-not-retry-after')) reply(refusingAnswer(500, [['do-not-retry', 'true']]))
    else reply(entry.answer)
  }

  /** To do a PUT or a DELETE again is to do nothing. */
  #do({ key, label, number, method }: Sent): void {
    const again = (method === 'PUT' || method === 'DELETE') && this.#effects.some((effect) => effect.label === label)
    this.#world.say('server', `does ${label} (request ${number})`)
    if (again) return
    this.#effects.push({ key, label, sent: number, at: this.#world.timeline.now })
    this.#world.oracle.done({ key, label, number })
  }

  #crashAnd(reply: Reply): void {
    this.#crash(this.#world.dice('server down').pick([0, 500, 10_000]))
    reply('reset')
  }

  #crash(downMs: number): void {
    const { timeline } = this.#world
    this.#life++
    this.#downUntil = Math.max(this.#downUntil, timeline.now + downMs)
    for (const [key, entry] of this.#ledger) if (!entry.answer) this.#ledger.delete(key)
    this.#world.say('server', `stops, and is back in ${downMs} ms`)
  }
}

function text({ body }: Sent): string {
  return body ? String.fromCharCode(...body) : ''
}

function problem(status: number, type: string): WireAnswer {
  return { status, headers: [['content-type', 'application/problem+json']], body: JSON.stringify({ type, status }) }
}

function replayed({ status, headers, body }: WireAnswer): WireAnswer {
  return { status, headers: [...headers, ['idempotency-replayed', 'true']], body }
}
