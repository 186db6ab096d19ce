import type { EffectReturn, Reply } from '../../../server/entry/reply.ts'
import type { GuardedLedger, LedgerGuard } from '../../../server/guard/begin.ts'
import { guardOf } from '../../../server/guard/begin.ts'
import type { IdempotencyContext } from '../../../server/guard/context.ts'
import type { Session } from '../../../server/guard/session.ts'
import { fetchInbound, responseOf } from '../../../server/http/fetch-handler.ts'
import type { Answer } from '../../../server/http/port.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { World } from '../world.ts'
import type { SimulatedTransaction } from './simulated-effect.ts'

/** An error of the domain, as frameworks know it: they answer it with its status. */
export class RefusalError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`Refused with ${status}`)
    this.status = status
  }
}

type Context = IdempotencyContext<SimulatedTransaction>
type Run = (context: Context) => Promise<Reply>

interface FrameworkParts {
  readonly world: World
  readonly process: SimulatedProcess
}

const TIMED_OUT: Answer = { status: 503, headers: [], body: null }

/** A framework between the ledger and its handlers: it answers what they throw, and gives up on those that take too long. */
export class SimulatedFramework {
  readonly #parts: FrameworkParts
  readonly #guard: LedgerGuard<SimulatedTransaction, EffectReturn, Request>

  constructor(ledger: GuardedLedger<SimulatedTransaction, EffectReturn, Request>, parts: FrameworkParts) {
    this.#guard = guardOf(ledger)
    this.#parts = parts
  }

  async serve(request: Request, run: Run): Promise<Response> {
    const begun = await this.#guard.begin(fetchInbound(request, this.#guard.maxRequestBytes))
    if (begun.kind === 'answered') return responseOf(begun.answer)
    return responseOf(await this.#run(begun.session, run(begun.session.context)))
  }

  async #run(session: Session, running: Promise<Reply>): Promise<Answer> {
    const ended = running.then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    )
    const first = await Promise.race([ended, this.#timeout()])
    if (first === 'timed out') return this.#answerInPlace(session, running)
    return 'reply' in first ? session.complete(first.reply) : this.#answerError(session, first.error)
  }

  /** Hooks and loggers take their time between the throw and the answer. */
  async #answerError(session: Session, error: unknown): Promise<Answer> {
    const { world, process } = this.#parts
    const dice = world.dice('framework')
    await this.#pause(dice.pick([0, 0, dice.between(1, 200), dice.between(200, 4000)]))
    if (!process.reach('framework:answering')) return new Promise(() => {})
    const answer: Answer = { status: error instanceof RefusalError ? error.status : 500, headers: [], body: null }
    const instead = await session.fail(error, { answer })
    if (error instanceof RefusalError && instead?.status === error.status) {
      world.oracle.observed('thrown refusal recorded')
    }
    return instead ?? answer
  }

  #answerInPlace(session: Session, running: Promise<Reply>): Answer | Promise<Answer> {
    const { world } = this.#parts
    world.oracle.observed('answered in the place of a handler at work')
    const late = running.catch(() => undefined)
    if (world.dice('framework').chance(0.5)) return session.complete(TIMED_OUT, late)
    return session
      .fail(new Error('The handler took too long'), { answer: TIMED_OUT, late })
      .then((own) => own ?? TIMED_OUT)
  }

  #timeout(): Promise<'timed out'> {
    const { world } = this.#parts
    if (!world.strikes('framework-timeout')) return new Promise(() => {})
    return this.#pause(world.dice('framework').pick([1, 500, 3000])).then(() => 'timed out' as const)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.process.later(ms, resolve))
  }
}
