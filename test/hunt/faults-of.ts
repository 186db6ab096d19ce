import type { HuntResult } from './hunt.ts'

/** What is wrong with a hunt, in words; empty where nothing is. */
export function faultsOf(result: HuntResult): string[] {
  const { complaints, neverStruck, crashes, unfinished, unclear } = result
  const ended = crashes > 0 ? [`${crashes} processes ended in an error of their own`] : []
  const open = unfinished > 0 ? [`${unfinished} entries of the ledger never came to an end`] : []
  const vague = unclear.map((message) => `A failure of the ledger was told as an error that is not its own: ${message}`)
  return [...complaints, ...neverStruck, ...ended, ...open, ...vague]
}
