import type { EffectReturn } from '../../../server/entry/reply.ts'
import { memoryLedger } from '../../../server/ledger/memory/memory-ledger.ts'
import type { MemoryTransaction } from '../../../server/ledger/memory/memory-transaction.ts'
import type { Claim, LedgerStore } from '../../../server/ledger/port.ts'

/**
 * The database of a simulated server: it outlives every process that asks it. A transaction whose process has ended is
 * rolled back, and leaves its claim as it is: the store of a process that is gone neither releases nor abandons.
 */
export class DurableLedger {
  readonly store: LedgerStore<MemoryTransaction, EffectReturn> = memoryLedger()
  /** Tokens of claims whose process ended in the middle of their transaction. */
  readonly #cut = new Set<string>()

  constructor() {
    const { store } = this
    const release = store.release.bind(store)
    const abandon = store.abandon.bind(store)
    store.release = async (claim) => !this.#cut.has(claim.token) && release(claim)
    store.abandon = async (claim, now, since) => !this.#cut.has(claim.token) && abandon(claim, now, since)
  }

  cut(claim: Claim): void {
    this.#cut.add(claim.token)
  }
}
