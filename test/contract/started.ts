import type { JournalContractOptions } from '../../src/testing/contracts/journal/contract-case.ts'
import { append, claimCommand, NOW } from '../../src/testing/contracts/journal/sample-row.ts'

/** The head of a sample row with an attempt on it. */
export const STARTED = `{"method":"POST","inFlightSince":${NOW}}`

/** The contract lets a journal leave it out; ours don't. */
export async function headOfStarted({ open }: JournalContractOptions): Promise<string | undefined> {
  const journal = await open()
  await journal.open()
  try {
    await journal.execute([append('a')], NOW)
    const [rows] = await journal.execute([claimCommand({ starts: true })], NOW)
    return (rows as readonly { readonly head: string }[])[0]?.head
  } finally {
    await journal.close()
  }
}
