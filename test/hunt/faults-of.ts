import type { HuntResult } from './hunt.ts'

/** What is wrong with a hunt, in words; empty where nothing is. */
export function faultsOf(result: HuntResult): string[] {
  const { complaints, neverStruck, crashes, unfinished } = result
  const ended = crashes > 0 ? [`${crashes} processes ended in an error of their own`] : []
  const open = unfinished > 0 ? [`${unfinished} entries of the ledger never came to an end`] : []
  return [...complaints, ...neverStruck, ...ended, ...open]
}
