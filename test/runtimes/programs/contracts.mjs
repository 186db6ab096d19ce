/** The contract suites of journal and ledger, on files of SQLite: says how many cases held, and which did not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteLedger } from 'holdfast/server/sqlite'
import { sqliteJournal } from 'holdfast/sqlite'
import { journalContract, ledgerContract } from 'holdfast/testing'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-contracts-'))
let files = 0

/** One file per store; a second store on the same file finds it by the first one. */
function onFiles(make) {
  const paths = new WeakMap()
  const onPath = (path) => {
    const store = make({ path })
    paths.set(store, path)
    return store
  }
  return {
    fresh: () => onPath(join(folder, `${++files}.db`)),
    again: (store) => onPath(paths.get(store)),
    pathOf: (store) => paths.get(store),
  }
}

function within(path, work) {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    return work(database)
  } finally {
    database.close()
  }
}

const journals = onFiles(sqliteJournal)
const ledgers = onFiles(sqliteLedger)

const cases = [
  ...journalContract({ open: journals.fresh, another: journals.again, reopen: journals.again }),
  ...ledgerContract({
    open: () => {
      const store = ledgers.fresh()
      within(ledgers.pathOf(store), (database) => database.exec('CREATE TABLE effects (name TEXT NOT NULL)'))
      return store
    },
    another: ledgers.again,
    synchronous: true,
    effects: {
      write: (tx, name) => void tx.prepare('INSERT INTO effects VALUES (?)').run(name),
      count: (name, store) =>
        within(ledgers.pathOf(store), (database) => {
          return database.prepare('SELECT count(*) AS n FROM effects WHERE name = ?').get(name).n
        }),
    },
  }),
]

const broken = []
for (const { name, run } of cases) await run().catch((error) => broken.push(`${name}: ${error.message}`))
rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify({ held: cases.length - broken.length, broken }))
process.exit()
