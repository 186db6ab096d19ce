import type { Reply } from '../../../server/entry/reply.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Effect, Sent } from '../wire.ts'
import type { World } from '../world.ts'

/** Everything that was done for good, by transactions and by the provider. */
export class EffectBook {
  readonly list: Effect[] = []
  /** Our own rows about what was done outside. */
  readonly rows: Effect[] = []
  readonly #world: World
  readonly #account: LedgerAccount
  readonly #sents = new Map<string, Sent>()

  constructor(world: World, account: LedgerAccount) {
    this.#world = world
    this.#account = account
  }

  do(sent: Sent): void {
    const { key, label, number } = sent
    this.#world.say('server', `does ${label} (request ${number})`)
    this.list.push({ key, label, sent: number, at: this.#world.timeline.now })
    this.#sents.set(key, sent)
    this.#world.oracle.done({ key, label, number })
    this.#account.done(sent)
  }

  /** The request that did what was last done under this key. */
  sentOf(key: string): Sent | undefined {
    return this.#sents.get(key)
  }

  write({ key, label, number }: Sent): void {
    this.#world.say('server', `books ${label} (request ${number})`)
    this.rows.push({ key, label, sent: number, at: this.#world.timeline.now })
  }
}

/** What the provider knows of an operation: how many calls are on their way to it, and what it answered. */
interface Charge {
  readonly label: string | undefined
  travelling: number
  answer: Reply | undefined
  sent: Sent | undefined
}

/** What was done for which request, and what the provider said to it. */
export interface Charged {
  readonly answer: Reply
  readonly sent: Sent
}

export interface ProviderCall {
  readonly sent: Sent
  /** What the provider says once it is done. */
  readonly answer: Reply
}

/** A service outside of the server, which does what it is asked for good, also where the server that asked is gone. */
export class Provider {
  readonly #world: World
  readonly #book: EffectBook
  readonly #charges = new Map<string, Charge>()

  constructor(world: World, book: EffectBook) {
    this.#world = world
    this.#book = book
  }

  /** Resolves with what the provider said, where the asking process still lives. */
  ask(process: SimulatedProcess, call: ProviderCall): Promise<Reply> {
    const { timeline } = this.#world
    return new Promise((resolve) => {
      if (!process.reach('provider:leaving')) return
      const charge = this.#chargeOf(call.sent.key, call.sent.label)
      charge.travelling++
      const dice = this.#world.dice('provider')
      const [there, back] = [dice.between(1, 2000), dice.between(1, 500)]
      timeline.at(timeline.now + there, () => {
        const answer = this.#do(charge, call)
        process.later(back, () => process.reach('provider:answered') && resolve(answer))
      })
      process.reach('provider:travelling')
    })
  }

  /** What became of an operation. Undefined while a call is on its way and may still do it. */
  lookUp(key: string): Charged | 'not-done' | undefined {
    const { travelling, answer, sent } = this.#chargeOf(key)
    if (answer && sent) return { answer, sent }
    return travelling > 0 ? undefined : 'not-done'
  }

  #do(charge: Charge, { sent, answer }: ProviderCall): Reply {
    charge.travelling--
    if (charge.answer && this.#world.plan.ledger.provider === 'dedups') return charge.answer
    this.#book.do(sent)
    charge.answer ??= answer
    charge.sent ??= sent
    return charge.answer
  }

  /** A key that a server with a short memory uses for something else is a new charge. */
  #chargeOf(key: string, label?: string): Charge {
    let charge = this.#charges.get(key)
    if (!charge || (label !== undefined && charge.label !== label)) {
      charge = { label, travelling: 0, answer: undefined, sent: undefined }
      this.#charges.set(key, charge)
    }
    return charge
  }
}
