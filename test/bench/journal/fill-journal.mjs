// Fills a journal of SQLite as if so many operations had been accepted, or settled, by processes now gone. Needs tsx.
import { sqliteJournal } from 'holdfast/sqlite'
import { fillJournal } from '../../support/child-rows.ts'

const { file, ...rows } = JSON.parse(process.argv[2])
const journal = sqliteJournal({ path: file, durability: 'process' })
await journal.open()
await fillJournal(journal, rows)
await journal.close()
