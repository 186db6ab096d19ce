import { StorageError } from '../../../errors/classes.ts'
import type { Entry } from '../../../server/entry/entry.ts'
import type { EffectReturn } from '../../../server/entry/reply.ts'
import type { LedgerStore } from '../../../server/ledger/port.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { LedgerCall } from '../vocabulary.ts'
import type { World } from '../world.ts'
import type { DurableLedger } from './durable-ledger.ts'
import type { EffectBook } from './provider.ts'
import type { HeldUp, ReplicaWire } from './replica-wire.ts'
import { SimulatedEffect, type SimulatedTransaction } from './simulated-effect.ts'

type Store = LedgerStore<SimulatedTransaction, EffectReturn>

export interface StoreParts {
  readonly world: World
  readonly process: SimulatedProcess
  readonly durable: DurableLedger
  readonly book: EffectBook
  readonly account: LedgerAccount
  readonly wire: ReplicaWire
  /** How long a message takes to the store, or back. */
  readonly travelMs: () => number
  /** Calls back when the process ends; the returned function takes it back. */
  readonly onEnd: (callback: () => void) => () => void
}

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
      const { account, process, durable, world } = this.#parts
      const insertion = await this.#inner.insert(this.#timed(draft))
      if (insertion.kind === 'inserted') account.claimed(process, insertion.claim)
      else if (durable.isBetweenSteps(insertion.found.entry)) world.oracle.observed('looked at between mark and lock')
      return insertion
    })

  takeOver: Store['takeOver'] = (found, draft) =>
    this.#ask('take-over', async () => {
      const before = await this.#inner.find(found.scope, found.key)
      const claim = await this.#inner.takeOver(found, this.#timed(draft))
      if (claim && before) this.#parts.account.tookOver(this.#parts.process, claim, before)
      return claim
    })

  renew: Store['renew'] = (claim, lease) => this.#ask('renew', () => this.#inner.renew(claim, this.#timed(lease)))

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

  transact: Store['transact'] = (transaction) =>
    this.#ask('transact', () => new SimulatedEffect(this.#parts, transaction).run())

  /** A store with a clock of its own looks at that, when a call arrives. */
  #timed<T extends { readonly now: number }>(asked: T): T {
    const { world, process } = this.#parts
    return world.plan.ledger.storeIsLike === 'memory' ? asked : { ...asked, now: process.clock.now() }
  }

  /** A call that has left reaches the store, whatever becomes of its process. */
  #ask<T>(call: LedgerCall, act: () => Promise<T>): Promise<T> {
    const { world, process, wire, travelMs } = this.#parts
    const { timeline } = world
    return new Promise<T>((resolve, reject) => {
      if (!process.reach(`ledger:${call}:asked`)) return
      const heldUp = wire.heldUp(call)
      const blinks = this.#blinks(call, heldUp)
      const isAnswerLost = world.strikes('ledger-store-answer-lost')
      const [there, back] = [travelMs(), travelMs()]
      timeline.at((heldUp?.calls === 'hang' ? heldUp.until : timeline.now) + there, () => {
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

  #blinks(call: LedgerCall, heldUp: HeldUp | undefined): boolean {
    const { world } = this.#parts
    if (world.strikes('ledger-store-blinks') || (call === 'complete' && world.strikes('ledger-record-fails')))
      return true
    return heldUp?.calls === 'fail'
  }
}

/** How long messages between a replica and its store take. */
export function storeTravel(world: World): () => number {
  return () => {
    const dice = world.dice('ledger store')
    const ms = dice.between(0, 3)
    return world.strikes('ledger-store-slow') ? ms + dice.pick([200, 2000, 6000, 16_000]) : ms
  }
}
