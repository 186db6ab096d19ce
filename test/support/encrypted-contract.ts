import type { Encryption } from '../../src/foundation/encryption.ts'
import { encryptedStore } from '../../src/server/encrypted-store.ts'
import type { LedgerStore } from '../../src/server/ledger/port.ts'
import type { LedgerContractOptions } from '../../src/testing/contracts/ledger/contract-case.ts'

/** The same stores, with their answers encrypted. */
export function encryptedContract<Tx>(
  options: LedgerContractOptions<Tx>,
  encryption: Encryption,
): LedgerContractOptions<Tx> {
  const plain = new WeakMap<object, LedgerStore<Tx>>()
  const encrypt = (store: LedgerStore<Tx>): LedgerStore<Tx> => {
    const encrypted = encryptedStore(store, encryption)
    plain.set(encrypted, store)
    return encrypted
  }
  const plainOf = (store: LedgerStore<Tx>): LedgerStore<Tx> => plain.get(store) ?? store
  const { another, effects, inTransaction } = options
  return {
    ...options,
    open: async () => encrypt(await options.open()),
    another: another && (async (store) => encrypt(await another(plainOf(store)))),
    effects: { write: effects.write, count: (name, store) => effects.count(name, plainOf(store)) },
    inTransaction: inTransaction && ((store, work, end) => inTransaction(plainOf(store), work, end)),
  }
}
