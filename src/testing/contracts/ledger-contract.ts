import { checkFunction, checkObject } from '../../configuration/option-checks.ts'
import type { ContractCase } from './journal/contract-case.ts'
import { answerCases } from './ledger/answer-cases.ts'
import { atomicCases } from './ledger/atomic-cases.ts'
import { type LedgerCase, type LedgerContractOptions, ledgerCase } from './ledger/contract-case.ts'
import { entriesCases } from './ledger/entries-cases.ts'
import { eraseCases } from './ledger/erase-cases.ts'
import { ledgerFenceCases } from './ledger/fence-cases.ts'
import { gaugeCases } from './ledger/gauge-cases.ts'
import { givenTransactionCases } from './ledger/given-transaction-cases.ts'
import { insertCases } from './ledger/insert-cases.ts'
import { messageCases } from './ledger/message-cases.ts'
import { moveCases } from './ledger/move-cases.ts'
import { openTransactionCases, synchronousCases } from './ledger/open-transaction-cases.ts'
import { reapCases } from './ledger/reap-cases.ts'
import { ledgerSharingCases } from './ledger/sharing-cases.ts'
import { takeOverCases } from './ledger/take-over-cases.ts'
import { transactCases } from './ledger/transact-cases.ts'

/**
 * Every promise of the LedgerStore port as a named case, for any test runner:
 *
 *     for (const { name, run } of ledgerContract({ open: () => myStore(), effects })) test(name, run)
 */
export function ledgerContract<Tx>(given: LedgerContractOptions<Tx>): ContractCase[] {
  checkObject('ledgerContract', given, ['open', 'another', 'effects', 'synchronous', 'inTransaction'])
  checkFunction('ledgerContract.open', given.open)
  // The cases do not look at transactions; they hand them to `effects`, which the caller has typed.
  const options = given as unknown as LedgerContractOptions
  const bodies: Record<string, LedgerCase> = {
    ...insertCases,
    ...takeOverCases,
    ...moveCases,
    ...ledgerFenceCases,
    ...transactCases,
    ...atomicCases,
    ...(options.synchronous ? synchronousCases : openTransactionCases),
    ...(options.inTransaction ? givenTransactionCases(options.inTransaction) : {}),
    ...answerCases,
    ...messageCases,
    ...reapCases,
    ...gaugeCases,
    ...eraseCases,
    ...entriesCases,
    ...(options.another ? ledgerSharingCases(options.another) : {}),
  }
  return Object.entries(bodies).map(([name, body]) => ledgerCase(options, name, body))
}
