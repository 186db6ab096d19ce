export type { ContractCase, JournalContractOptions } from './contracts/journal/contract-case.ts'
export { journalContract } from './contracts/journal-contract.ts'
export type { LedgerContractOptions } from './contracts/ledger/contract-case.ts'
export { ledgerContract } from './contracts/ledger-contract.ts'
export { type CrashPoint, crashPoints } from './crash/crash-point.ts'
export { type Crash, type CrashAtOptions, crashAt } from './crash-at.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export {
  type AnswerStep,
  type FaultStep,
  type HangStep,
  type PlainStep,
  type ScriptedCall,
  type ScriptedFault,
  type ScriptedFetch,
  type ScriptedFetchOptions,
  type ScriptedStep,
  type StepFunction,
  type StepResult,
  scriptedFetch,
} from './scripted-fetch.ts'
export { type SeededRandom, seededRandom } from './seeded-random.ts'
export type { SimulatedApi } from './simulation/api-server.ts'
export type { CoverageCounts } from './simulation/coverage.ts'
export type { BrokenPromise, PromiseName } from './simulation/oracle/facts.ts'
export { reportText } from './simulation/report-text.ts'
export {
  type FailedHistory,
  type SimulateOptions,
  type SimulationProgress,
  type SimulationReport,
  simulate,
} from './simulation/simulate.ts'
