import { sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { append } from '../../../../../src/testing/contracts/journal/sample-row.ts'

/** Run as a process of its own: it neither closes the journal nor waits for its last batch, and must end anyway. */
async function main(): Promise<void> {
  const closed = sqliteJournal({ path: String(process.argv.at(-1)) })
  await closed.open()
  await closed.close()
  const journal = sqliteJournal({ path: String(process.argv.at(-1)) })
  await journal.open()
  const [answer] = await journal.execute([append('a')])
  process.stdout.write(`${JSON.stringify(answer)}\n`)
  setTimeout(() => void journal.execute([append('b')]), 50)
}

void main()
