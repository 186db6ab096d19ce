import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import 'fake-indexeddb/auto'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/client/journal/memory/memory-journal.ts'
import type { Journal } from '../../src/client/journal/port.ts'
import { indexedDbJournal } from '../../src/indexeddb/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import type { JournalContractOptions } from '../../src/testing/contracts/journal/contract-case.ts'
import { journalContract } from '../../src/testing/contracts/journal-contract.ts'
import { headOfStarted, STARTED } from './started.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-contract-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One file per store; further journals on the same store find it by the first one. */
function onFiles(make: (path: string) => Journal): JournalContractOptions {
  const paths = new WeakMap<Journal, string>()
  const onPath = (path: string): Journal => {
    const journal = make(path)
    paths.set(journal, path)
    return journal
  }
  const again = (journal: Journal): Journal => onPath(paths.get(journal) ?? '')
  return { open: () => onPath(join(folder, `${++files}.db`)), another: again, reopen: again }
}

function onHandle(path: string): Journal {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  return sqliteJournal({ database })
}

function onOldHandle(path: string): Journal {
  const database = new Database(path)
  database.defaultSafeIntegers(true)
  return sqliteJournal({ database, durability: 'process' })
}

const adapters: Record<string, JournalContractOptions> = {
  'in memory': { open: memoryJournal, another: (journal) => journal },
  IndexedDB: onFiles((name) => indexedDbJournal({ name })),
  'SQLite file': onFiles((path) => sqliteJournal({ path })),
  'SQLite handle': onFiles(onHandle),
  'SQLite handle with a rollback journal and bigints': onFiles(onOldHandle),
}

for (const [name, options] of Object.entries(adapters)) {
  describe(`the journal ${name}`, () => {
    for (const { name: promise, run } of journalContract(options))
      it(promise, () => expect(run()).resolves.toBeUndefined())

    it('puts on record with a claim what is sent at once', () => expect(headOfStarted(options)).resolves.toBe(STARTED))
  })
}
