import type { Entry } from '../../../server/entry/entry.ts'
import { type Reply, reply } from '../../../server/entry/reply.ts'
import type { IdempotencyContext } from '../../../server/guard/context.ts'
import { SECRET } from '../model-server.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import type { World } from '../world.ts'
import type { EffectBook, Provider } from './provider.ts'
import type { SimulatedTransaction } from './simulated-ledger-store.ts'

export interface WorkParts {
  readonly world: World
  readonly process: SimulatedProcess
  readonly provider: Provider
  readonly book: EffectBook
  readonly account: LedgerAccount
}

type Context = IdempotencyContext<SimulatedTransaction>

/** The handler that the ledger protects, and what can be found out about it later. */
export class LedgerWork {
  readonly #parts: WorkParts

  constructor(parts: WorkParts) {
    this.#parts = parts
  }

  async handle(context: Context, sent: Sent): Promise<Reply> {
    const { world, process, account } = this.#parts
    account.served(sent)
    await this.#pause()
    if (!process.reach('ledger:serving')) return never()
    if (world.strikes('work-fails')) return this.#fail(context)
    return world.plan.ledger.work === 'effect' ? this.#inTransaction(context, sent) : this.#outside(context, sent)
  }

  /** What became of an operation whose runner is gone. */
  async reconcile({ key }: Pick<Entry, 'key'>): Promise<Reply | 'rerun' | undefined> {
    const { world, process, provider } = this.#parts
    await this.#pause()
    if (!process.reach('ledger:reconciling')) return never()
    // Inside the ledger's transaction: without an answer on record nothing was done.
    const found = world.plan.ledger.work === 'effect' ? 'not-done' : provider.lookUp(key)
    if (found === 'not-done') return 'rerun'
    if (found) world.oracle.observed('entry reconciled')
    return found
  }

  #inTransaction({ effect }: Context, sent: Sent): Promise<Reply> {
    const { world, process } = this.#parts
    return effect(async (tx) => {
      tx.do(sent)
      await this.#pause()
      if (!process.reach('ledger:in-transaction')) return never()
      if (world.strikes('work-fails-after')) return this.#failAfter()
      return this.#declined() ?? this.#success(sent)
    })
  }

  async #outside(context: Context, sent: Sent): Promise<Reply> {
    const { world, process, provider, account } = this.#parts
    const declined = this.#declined()
    const answer = declined ?? (await provider.ask(process, { sent, answer: this.#success(sent) }))
    if (!declined && world.strikes('work-fails-after')) return this.#failAfter()
    if (world.plan.ledger.records === 'in-transaction') return context.effect(async () => answer)
    account.knows(process, sent, context.attempt)
    return answer
  }

  /** Before anything was done; an external handler says so, or does not think of it. */
  #fail({ notDone }: Context): Reply {
    const dice = this.#parts.world.dice('work-fails')
    if (dice.chance(0.5)) notDone()
    if (dice.chance(0.5)) return reply(null, { status: dice.pick([500, 503]) })
    throw failure()
  }

  #failAfter(): Reply {
    const dice = this.#parts.world.dice('work-fails-after')
    if (dice.chance(0.5)) return reply(null, { status: dice.pick([500, 502, 504]) })
    throw failure()
  }

  #declined(): Reply | undefined {
    const { world } = this.#parts
    if (!world.strikes('declined')) return undefined
    return reply(null, { status: world.dice('declined').pick([400, 402, 404, 409, 422]) })
  }

  #success({ label }: Sent): Reply {
    const { world } = this.#parts
    const odd = world.strikes('odd-body')
    const body = odd ? world.dice('odd-body').pick(['', '<html>done</html>']) : `{"done":"${label}"}`
    return reply(body, { status: 201, headers: { 'set-cookie': `session=${SECRET}` } })
  }

  #pause(): Promise<void> {
    const { world, process } = this.#parts
    const dice = world.dice('ledger work')
    const ms = dice.pick([0, dice.between(1, 50), dice.between(50, 3000)])
    const slow = world.strikes('work-slow') ? dice.pick([6000, 20_000]) : 0
    return new Promise((resolve) => process.later(ms + slow, resolve))
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}

function failure(): Error {
  return new Error('The handler failed')
}
