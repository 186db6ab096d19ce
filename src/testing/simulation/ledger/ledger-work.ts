import type { Entry } from '../../../server/entry/entry.ts'
import { type Reply, reply } from '../../../server/entry/reply.ts'
import type { IdempotencyContext } from '../../../server/guard/context.ts'
import { SECRET } from '../model-server.ts'
import type { HandlerRun } from '../oracle/handler-account.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import type { World } from '../world.ts'
import type { Charged, EffectBook, Provider } from './provider.ts'
import type { SimulatedTransaction } from './simulated-effect.ts'
import { RefusalError } from './simulated-framework.ts'

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
    const run = account.began(process, sent, context)
    try {
      await this.#pause()
      if (!process.reach('ledger:serving')) return await never()
      if (world.strikes('work-fails')) return this.#fail(context)
      if (world.plan.ledger.work === 'effect') return await this.#inTransaction(context, sent, run)
      return await this.#outside(context, sent, run)
    } finally {
      if (context.signal.aborted) world.oracle.observed('aborted by its own clock')
      account.ended(run)
    }
  }

  /** What became of an operation whose runner is gone. */
  async reconcile({ key }: Pick<Entry, 'key'>): Promise<Reply | 'rerun' | undefined> {
    const { world, process, provider, book } = this.#parts
    await this.#pause()
    if (!process.reach('ledger:reconciling')) return never()
    // Inside the ledger's transaction: without an answer on record nothing was done, unless the work has committed by itself.
    const found = world.plan.ledger.work === 'effect' ? this.#lookUpRow(key) : provider.lookUp(key)
    if (found === 'not-done') return 'rerun'
    if (!found) return undefined
    world.oracle.observed('entry reconciled')
    if (this.#books && !book.rows.some((row) => row.key === key)) book.write(found.sent)
    return found.answer
  }

  #lookUpRow(key: string): Charged | 'not-done' {
    const sent = this.#parts.book.sentOf(key)
    return sent ? { sent, answer: this.#success(sent) } : 'not-done'
  }

  /** Does an external handler keep a row of its own about what was done? */
  get #books(): boolean {
    const { work, records } = this.#parts.world.plan.ledger
    return work === 'external' && records === 'in-transaction'
  }

  #inTransaction({ effect }: Context, sent: Sent, run: HandlerRun): Promise<Reply> {
    const { world, process, account } = this.#parts
    return effect(async (tx) => {
      account.acts(run)
      tx.do(sent)
      await this.#pause()
      if (!process.reach('ledger:in-transaction')) return never()
      if (world.strikes('work-fails-after')) return this.#failAfter()
      this.#mayRefuse()
      const answer = this.#declined() ?? this.#success(sent)
      this.#mayEnd(tx)
      return answer
    })
  }

  async #outside(context: Context, sent: Sent, run: HandlerRun): Promise<Reply> {
    const { world, process, provider, account } = this.#parts
    const declined = this.#declined()
    account.acts(run)
    // A handler does nothing more once its signal is aborted.
    if (context.signal.aborted) throw failure()
    const answer = declined ?? (await provider.ask(process, { sent, answer: this.#success(sent) }))
    if (!declined && world.strikes('work-fails-after')) return this.#failAfter()
    if (this.#books) return this.#record(context, sent, declined ?? answer)
    account.knows(run)
    return answer
  }

  /** The row about the charge and the answer, in one transaction. */
  #record({ effect }: Context, sent: Sent, answer: Reply): Promise<Reply> {
    const { world } = this.#parts
    return effect(async (tx) => {
      if (answer.status < 400) tx.book(sent)
      await this.#pause()
      if (answer.status < 400 && world.strikes('work-fails-after')) return this.#failAfter()
      this.#mayRefuse()
      return answer
    })
  }

  /** An error of the domain inside of an effect: a framework answers it. */
  #mayRefuse(): void {
    const { world } = this.#parts
    if (world.strikes('work-throws-refusal')) {
      throw new RefusalError(world.dice('work-throws-refusal').pick([402, 402, 409, 422, 500, 503]))
    }
  }

  /** A helper that the work calls ends the transaction that it was given. */
  #mayEnd(tx: SimulatedTransaction): void {
    const { world } = this.#parts
    if (!world.strikes('work-ends-transaction')) return
    const dice = world.dice('work-ends-transaction')
    tx.end(dice.pick(['commit', 'rollback'] as const))
    if (dice.chance(0.3)) throw failure()
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
