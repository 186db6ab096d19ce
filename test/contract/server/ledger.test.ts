import { describe, it } from 'vitest'
import { memoryLedger } from '../../../src/server/ledger/memory/memory-ledger.ts'
import type { MemoryTransaction } from '../../../src/server/ledger/memory/memory-undo.ts'
import type { LedgerContractOptions } from '../../../src/testing/contracts/ledger/contract-case.ts'
import { ledgerContract } from '../../../src/testing/contracts/ledger-contract.ts'

/** Effects in memory say themselves how they are taken back. */
function inMemory(): LedgerContractOptions<MemoryTransaction> {
  let committed: string[] = []
  return {
    open: () => {
      committed = []
      return memoryLedger()
    },
    another: (store) => store,
    effects: {
      write: (tx, name) => {
        committed.push(name)
        tx.onRollback(() => committed.splice(committed.indexOf(name), 1))
      },
      count: (name) => committed.filter((each) => each === name).length,
    },
  }
}

describe('the ledger in memory', () => {
  for (const { name, run } of ledgerContract(inMemory())) it(name, run)
})
