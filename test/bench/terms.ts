/** How much each section does. */
export interface Terms {
  /** Lines on stderr about what is being measured. */
  readonly progress: 'shown' | 'hidden'
  readonly rounds: number
  readonly roundMs: number
  /** Of GET and POST. */
  readonly concurrencies: readonly number[]
  /** Calls after which the heap is measured. */
  readonly heapCalls: number
  /** Calls over which promises are counted. */
  readonly countedCalls: number
  /** Settled records in the journals of that section. The first is what the others are compared with. */
  readonly settledCounts: readonly number[]
  /** Operations that are resumed. */
  readonly pending: number
  /** Entries in the ledgers of the growth section. */
  readonly ledgerSizes: readonly number[]
  /** How long a ledger is kept under churn. */
  readonly churnMs: number
  /** Operations of a backlog that is drained, in the section fleet. */
  readonly backlog: number
  /** Journals in Postgres: records, and how many of them are pending. */
  readonly journalSizes: readonly { readonly records: number; readonly pending: number }[]
  /** Operations that processes share, and how many processes. */
  readonly fleetOperations: number
  readonly fleetProcesses: readonly number[]
}

export const FULL: Terms = {
  progress: 'shown',
  rounds: 9,
  roundMs: 600,
  concurrencies: [1, 16, 64],
  heapCalls: 100_000,
  countedCalls: 1000,
  settledCounts: [0, 100_000, 1_000_000],
  pending: 100_000,
  ledgerSizes: [10_000, 1_000_000, 10_000_000],
  churnMs: 120_000,
  backlog: 2000,
  journalSizes: [
    { records: 10_000, pending: 10_000 },
    { records: 100_000, pending: 10_000 },
    { records: 1_000_000, pending: 10_000 },
    { records: 1_000_000, pending: 1000 },
    { records: 1_000_000, pending: 100_000 },
  ],
  fleetOperations: 100_000,
  fleetProcesses: [1, 8],
}

/** Shows that everything runs. Its numbers mean nothing. */
export const QUICK: Terms = {
  progress: 'shown',
  rounds: 1,
  roundMs: 1,
  concurrencies: [1, 64],
  heapCalls: 20,
  countedCalls: 20,
  settledCounts: [0, 50],
  pending: 10,
  ledgerSizes: [20, 200],
  churnMs: 1000,
  backlog: 10,
  journalSizes: [{ records: 100, pending: 40 }],
  fleetOperations: 40,
  fleetProcesses: [2],
}
