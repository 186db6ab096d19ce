import type { EffectReturn } from '../../../server/entry/reply.ts'
import { memoryLedger } from '../../../server/ledger/memory/memory-ledger.ts'
import type { MemoryTransaction } from '../../../server/ledger/memory/memory-transaction.ts'
import type { Claim, LedgerStore, Transaction } from '../../../server/ledger/port.ts'

/**
 * The database of a simulated server: it outlives every process that asks it. A transaction whose process has ended is
 * rolled back, and leaves its claim as it is.
 */
export class DurableLedger {
  readonly store: LedgerStore<MemoryTransaction, EffectReturn> = memoryLedger()
  /** Tokens of claims that are marked, and not locked yet. */
  readonly #marked = new Set<string>()

  /**
   * The first step of an effect where there are two: the entry is marked and has the lease of an open transaction, and
   * nothing shows yet that its handler is alive. False: the claim was lost.
   */
  async mark({ claim, now, effectLeaseMs }: Omit<Transaction<never>, 'work' | 'options'>): Promise<boolean> {
    if (!claim) return true
    const kept = { kind: 'kept' } as const
    const { kind } = await this.store.transact({ claim, now, work: () => kept, options: {} })
    if (kind === 'lost') return false
    this.#marked.add(claim.token)
    return effectLeaseMs === undefined || this.store.renew(claim, { leaseMs: effectLeaseMs, now })
  }

  /** The second step begins. */
  locks(claim: Claim): void {
    this.#marked.delete(claim.token)
  }

  isBetweenSteps({ token }: Pick<Claim, 'token'>): boolean {
    return this.#marked.has(token)
  }
}
