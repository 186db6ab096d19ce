import { isThenable } from '../../../foundation/thenable.ts'
import type { WorkOutcome } from '../../../server/entry/outcome.ts'
import type { LedgerStore } from '../../../server/ledger/port.ts'
import type { ContractCase } from '../journal/contract-case.ts'

type Eventually<T> = T | Promise<T>

/** What the suite needs to know about a store. */
export interface LedgerContractOptions<Tx = unknown> {
  /** A store without entries. */
  open(): Eventually<LedgerStore<Tx>>
  /** A second store on the data of the given one, as another process would open it. */
  another?: ((store: LedgerStore<Tx>) => Eventually<LedgerStore<Tx>>) | undefined
  /** How the work of a case leaves a trace in the data of the given store, and how many of that name were committed. */
  readonly effects: {
    write(tx: Tx, name: string): Eventually<void>
    count(name: string, store: LedgerStore<Tx>): Eventually<number>
  }
  /** True for stores whose transactions do not wait: work that returns a promise is refused. */
  readonly synchronous?: boolean | undefined
  /** For stores that can write into a transaction of the caller: runs the work in one, and ends it as given. */
  inTransaction?:
    | ((store: LedgerStore<Tx>, work: (tx: Tx) => Promise<void>, end: 'commit' | 'rollback') => Promise<void>)
    | undefined
}

/** A store in the hands of a case. */
export interface LedgerSubject {
  readonly store: LedgerStore
  /** Work that writes the named effect, and then returns the outcome or throws. */
  effect(name: string, end: WorkOutcome | (() => never)): (tx: unknown) => WorkOutcome | Promise<WorkOutcome>
  /** The same for a message. */
  message(name: string, end: string | null | (() => never)): (tx: unknown) => string | null | Promise<string | null>
  count(name: string): Promise<number>
}

export type LedgerCase = (subject: LedgerSubject, options: LedgerContractOptions) => Promise<void>

export function ledgerSubject({ effects }: LedgerContractOptions, store: LedgerStore): LedgerSubject {
  const after = <T>(name: string, end: T | (() => never)): ((tx: unknown) => T | Promise<T>) => {
    const finish = (): T => (typeof end === 'function' ? (end as () => never)() : end)
    return (tx) => {
      const written = effects.write(tx, name)
      return isThenable(written) ? Promise.resolve(written).then(finish) : finish()
    }
  }
  return { store, effect: after, message: after, count: async (name) => effects.count(name, store) }
}

export function ledgerCase(options: LedgerContractOptions, name: string, body: LedgerCase): ContractCase {
  return {
    name,
    run: async () => {
      const store = await options.open()
      try {
        await body(ledgerSubject(options, store), options)
      } finally {
        await store.close()
      }
    },
  }
}
