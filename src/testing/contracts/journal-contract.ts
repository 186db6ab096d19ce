import { checkFunction, checkObject } from '../../configuration/option-checks.ts'
import { appendCases } from './journal/append-cases.ts'
import { claimCases } from './journal/claim-cases.ts'
import { type CaseBody, type ContractCase, contractCase, type JournalContractOptions } from './journal/contract-case.ts'
import { journalFenceCases } from './journal/fence-cases.ts'
import { keepingCases } from './journal/keeping-cases.ts'
import { laneCases } from './journal/lane-cases.ts'
import { journalSharingCases, lastingCases } from './journal/sharing-cases.ts'

/**
 * Every promise of the Journal port as a named case, for any test runner:
 *
 *     for (const { name, run } of journalContract({ open: () => myJournal() })) test(name, run)
 */
export function journalContract(options: JournalContractOptions): ContractCase[] {
  checkObject('journalContract', options, ['open', 'another', 'reopen'])
  checkFunction('journalContract.open', options.open)
  const bodies: Record<string, CaseBody> = {
    ...appendCases,
    ...journalFenceCases,
    ...claimCases,
    ...keepingCases,
    ...laneCases,
    ...(options.another ? journalSharingCases(options.another) : {}),
    ...(options.reopen ? lastingCases(options.reopen) : {}),
  }
  return Object.entries(bodies).map(([name, body]) => contractCase(options, name, body))
}
