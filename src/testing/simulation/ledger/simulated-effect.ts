import { StorageError } from '../../../errors/classes.ts'
import { EndedTransactionError } from '../../../server/entry/ended-transaction.ts'
import type { Outcome, WorkOutcome } from '../../../server/entry/outcome.ts'
import type { MemoryTransaction } from '../../../server/ledger/memory/memory-transaction.ts'
import type { Transaction } from '../../../server/ledger/port.ts'
import type { Sent } from '../wire.ts'
import type { StoreParts } from './simulated-ledger-store.ts'

/** What an effect writes with: done when the transaction is committed, and only then. */
export interface SimulatedTransaction {
  /** What the operation is about. */
  do(sent: Sent): void
  /** A row of our own about something that was done outside. */
  book(sent: Sent): void
  /** What no work should do: ends the transaction itself. */
  end(how: 'commit' | 'rollback'): void
}

const CUT = new Error('The process that had opened this transaction is gone')

/** One transaction of a simulated store: asked, marked, locked, worked in, on its way to its commit, committed. */
export class SimulatedEffect {
  readonly #parts: StoreParts
  readonly #transaction: Transaction<SimulatedTransaction>
  /** How to do for good what was written. */
  readonly #written: (() => void)[] = []
  #isEnded = false

  constructor(parts: StoreParts, transaction: Transaction<SimulatedTransaction>) {
    this.#parts = parts
    this.#transaction = transaction
  }

  async run(): Promise<Outcome> {
    const { durable } = this.#parts
    if (!(await this.#marked())) return { kind: 'lost' }
    const work = (tx: MemoryTransaction): Promise<WorkOutcome> => this.#work(tx)
    try {
      const outcome = await durable.store.transact({ ...this.#transaction, options: {}, work })
      const { claim } = this.#transaction
      if (claim && outcome.kind !== 'kept') this.#parts.account.settled(claim)
      return outcome
    } catch (error) {
      // The process that asked has ended, and gets no answer.
      if (error === CUT) return new Promise<Outcome>(() => {})
      if (!(error instanceof StorageError)) await this.#keep()
      throw error
    } finally {
      this.#flush()
    }
  }

  /** Another request may look at the entry after the mark and before the lock. */
  async #marked(): Promise<boolean> {
    const { world, process, durable, travelMs } = this.#parts
    const { claim } = this.#transaction
    if (!claim || world.plan.ledger.storeIsLike === 'memory') return true
    if (!(await durable.mark({ ...this.#transaction, now: process.clock.now() }))) return false
    if (!process.reach('ledger:marked')) return new Promise(() => {})
    const { timeline } = world
    const betweenMs = travelMs() + world.dice('between mark and lock').pick([0, 1, 30, 300])
    await new Promise<void>((resolve) => timeline.at(timeline.now + betweenMs, resolve))
    durable.locks(claim)
    return true
  }

  /** After a throw the lease is whole again; work that has ended its transaction leaves its outcome unknown. */
  async #keep(): Promise<void> {
    const { claim, leaseMs } = this.#transaction
    const { durable, process, account } = this.#parts
    if (!claim) return
    const now = process.clock.now()
    if (this.#isEnded) {
      account.endedByWork(claim)
      await durable.store.abandon(claim, now)
      account.settled(claim)
    } else if (leaseMs !== undefined) await durable.store.renew(claim, { leaseMs, now })
  }

  #flush(): void {
    for (const write of this.#written.splice(0)) write()
  }

  #work(tx: MemoryTransaction): Promise<WorkOutcome> {
    const { process, account, onEnd } = this.#parts
    const { claim } = this.#transaction
    if (claim) account.entered(claim)
    tx.onRollback(() => this.#written.splice(0))
    return new Promise<WorkOutcome>((resolve, reject) => {
      const cut = (): void => reject(CUT)
      if (!process.alive) return cut()
      const stopListening = onEnd(cut)
      this.#worked()
        .then((outcome) => this.#commit(outcome))
        .finally(stopListening)
        .then(resolve, reject)
    }).finally(() => claim && account.left(claim))
  }

  async #worked(): Promise<WorkOutcome> {
    const { book } = this.#parts
    const tx: SimulatedTransaction = {
      do: (sent) => void this.#written.push(() => book.do(sent)),
      book: (sent) => void this.#written.push(() => book.write(sent)),
      end: (how) => this.#endByWork(how),
    }
    try {
      const outcome = await this.#transaction.work(tx)
      if (!this.#isEnded) return outcome
    } catch (error) {
      if (!this.#isEnded) throw error
      throw new EndedTransactionError(error)
    }
    throw new EndedTransactionError()
  }

  #endByWork(how: 'commit' | 'rollback'): void {
    this.#isEnded = true
    if (how === 'commit') this.#flush()
    else this.#written.splice(0)
  }

  /** The commit travels to the store, which may refuse it. */
  #commit(outcome: WorkOutcome): Promise<WorkOutcome> {
    const { world, process, wire, travelMs } = this.#parts
    return new Promise((resolve, reject) => {
      if (!process.reach('ledger:committing')) return
      const heldUp = wire.heldUp('commit')
      const blinks = world.strikes('ledger-store-blinks') || heldUp?.calls === 'fail'
      const waits = heldUp ? heldUp.until - world.timeline.now : 0
      process.later(waits + travelMs(), () => {
        if (blinks) reject(new StorageError('The store failed before the commit'))
        else resolve(outcome)
      })
    })
  }
}
