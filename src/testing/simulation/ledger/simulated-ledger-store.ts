import { StorageError } from '../../../errors/classes.ts'
import type { Entry } from '../../../server/entry/entry.ts'
import type { Outcome, WorkOutcome } from '../../../server/entry/outcome.ts'
import type { EffectReturn } from '../../../server/entry/reply.ts'
import type { MemoryTransaction } from '../../../server/ledger/memory/memory-transaction.ts'
import type { LedgerStore, Transaction } from '../../../server/ledger/port.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { LedgerCall } from '../vocabulary.ts'
import type { Sent } from '../wire.ts'
import type { World } from '../world.ts'
import type { DurableLedger } from './durable-ledger.ts'
import type { EffectBook } from './provider.ts'

/** What an effect writes with: done when the transaction is committed, and only then. */
export interface SimulatedTransaction {
  do(sent: Sent): void
}

type Store = LedgerStore<SimulatedTransaction, EffectReturn>

export interface StoreParts {
  readonly world: World
  readonly process: SimulatedProcess
  readonly durable: DurableLedger
  readonly book: EffectBook
  readonly account: LedgerAccount
  /** Calls back when the process ends; the returned function takes it back. */
  readonly onEnd: (callback: () => void) => () => void
}

const CUT = new Error('The process that had opened this transaction is gone')

/** One process's connection to the database: slow, now and then gone, and with a crash point on each side of each call. */
export class SimulatedLedgerStore implements Store {
  readonly name = 'simulated'
  readonly #parts: StoreParts
  readonly #inner: DurableLedger['store']

  constructor(parts: StoreParts) {
    this.#parts = parts
    this.#inner = parts.durable.store
  }

  insert: Store['insert'] = (draft) =>
    this.#ask('insert', async () => {
      const insertion = await this.#inner.insert(draft)
      if (insertion.kind === 'inserted') this.#parts.account.claimed(this.#parts.process, insertion.claim)
      return insertion
    })

  takeOver: Store['takeOver'] = (found, draft) =>
    this.#ask('take-over', async () => {
      const before = await this.#inner.find(found.scope, found.key)
      const claim = await this.#inner.takeOver(found, draft)
      if (claim && before) this.#parts.account.tookOver(this.#parts.process, claim, before)
      return claim
    })

  renew: Store['renew'] = (claim, lease) => this.#ask('renew', () => this.#inner.renew(claim, lease))

  complete: Store['complete'] = async (claim, answer, now) => {
    const { account } = this.#parts
    try {
      return await this.#ask('complete', async () => {
        const isKept = await this.#inner.complete(claim, answer, now)
        if (isKept) account.recorded(claim, answer)
        return isKept
      })
    } catch (error) {
      account.failedToRecord(claim)
      throw error
    }
  }

  release: Store['release'] = (claim) => this.#ask('release', () => this.#inner.release(claim))

  abandon: Store['abandon'] = (claim, now, since) => this.#ask('abandon', () => this.#inner.abandon(claim, now, since))

  find: Store['find'] = (scope, key) => this.#ask('find', () => this.#inner.find(scope, key))

  reap: Store['reap'] = (options) => this.#ask('reap', () => this.#inner.reap(options))

  atomic: Store['atomic'] = () => Promise.reject(new Error('No request of the simulation is atomic'))
  consume: Store['consume'] = () => Promise.reject(new Error('No message is consumed in the simulation'))

  stats: Store['stats'] = (now) => this.#inner.stats(now)

  count: Store['count'] = (scope, atMost) => this.#inner.count(scope, atMost)
  erase: Store['erase'] = (batch) => this.#inner.erase(batch)

  gauges: Store['gauges'] = (now) => this.#ask('gauges', () => this.#inner.gauges(now))

  close: Store['close'] = async () => {}

  async *entries(query: Parameters<Store['entries']>[0]): AsyncGenerator<Entry> {
    yield* await this.#ask('entries', async () => {
      const page: Entry[] = []
      for await (const entry of this.#inner.entries(query)) page.push(entry)
      return page
    })
  }

  /** Asked, begun, worked in, on its way to its commit, committed: the process can end at each. */
  transact: Store['transact'] = (transaction) =>
    this.#ask('transact', async () => {
      const written: Sent[] = []
      try {
        return await this.#inner.transact({
          ...transaction,
          options: {},
          work: (tx) => this.#work(transaction, tx, written),
        })
      } catch (error) {
        // The process that asked has ended, and gets no answer.
        if (error === CUT) return new Promise<Outcome>(() => {})
        throw error
      } finally {
        for (const sent of written) this.#parts.book.do(sent)
      }
    })

  #work(
    { work, claim }: Transaction<SimulatedTransaction>,
    tx: MemoryTransaction,
    written: Sent[],
  ): Promise<WorkOutcome> {
    const { process, durable, account, onEnd } = this.#parts
    if (claim) account.entered(claim)
    tx.onRollback(() => written.splice(0))
    return new Promise<WorkOutcome>((resolve, reject) => {
      const cut = (): void => {
        if (claim) durable.cut(claim)
        reject(CUT)
      }
      if (!process.alive) return cut()
      const stopListening = onEnd(cut)
      const run = async (): Promise<WorkOutcome> => work({ do: (sent) => void written.push(sent) })
      run()
        .then((outcome) => this.#commit(outcome))
        .finally(stopListening)
        .then(resolve, reject)
    }).finally(() => claim && account.left(claim))
  }

  /** The commit travels to the store, which may refuse it. */
  #commit(outcome: WorkOutcome): Promise<WorkOutcome> {
    const { world, process } = this.#parts
    return new Promise((resolve, reject) => {
      if (!process.reach('ledger:committing')) return
      const blinks = world.strikes('ledger-store-blinks')
      process.later(this.#travelMs(), () => {
        if (blinks) reject(new StorageError('The store failed before the commit'))
        else resolve(outcome)
      })
    })
  }

  /** A call that has left reaches the store, whatever becomes of its process. */
  #ask<T>(call: LedgerCall, act: () => Promise<T>): Promise<T> {
    const { world, process } = this.#parts
    const { timeline } = world
    return new Promise<T>((resolve, reject) => {
      if (!process.reach(`ledger:${call}:asked`)) return
      const blinks =
        world.strikes('ledger-store-blinks') || (call === 'complete' && world.strikes('ledger-record-fails'))
      const isAnswerLost = world.strikes('ledger-store-answer-lost')
      const [there, back] = [this.#travelMs(), this.#travelMs()]
      timeline.at(timeline.now + there, () => {
        if (blinks) return void process.later(back, () => reject(new StorageError(`The store failed to ${call}`)))
        act().then(
          (value) => {
            if (!process.reach(`ledger:${call}:done`)) return
            const lost = new StorageError(`The answer of ${call} was lost`, { effect: 'unknown' })
            process.later(back, () => (isAnswerLost ? reject(lost) : resolve(value)))
          },
          (error: unknown) => process.later(back, () => reject(error)),
        )
      })
    })
  }

  #travelMs(): number {
    const dice = this.#parts.world.dice('ledger store')
    const ms = dice.between(0, 3)
    return this.#parts.world.strikes('ledger-store-slow') ? ms + dice.pick([200, 2000, 6000, 16_000]) : ms
  }
}
