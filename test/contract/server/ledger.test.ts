import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { aesGcm as asynchronous } from '../../../src/client/encryption/aes-gcm.ts'
import { aesGcm } from '../../../src/server/aes-gcm.ts'
import { memoryLedger } from '../../../src/server/ledger/memory/memory-ledger.ts'
import type { MemoryTransaction } from '../../../src/server/ledger/memory/memory-transaction.ts'
import type { LedgerStore } from '../../../src/server/ledger/port.ts'
import { type SqliteDatabase, sqliteLedger } from '../../../src/server/sqlite/index.ts'
import type { LedgerContractOptions } from '../../../src/testing/contracts/ledger/contract-case.ts'
import { ledgerContract } from '../../../src/testing/contracts/ledger-contract.ts'
import { encryptedContract } from '../../support/encrypted-contract.ts'

const KEY = new Uint8Array(32).fill(1)

/** Effects in memory say themselves how they are taken back. */
function inMemory(): LedgerContractOptions<MemoryTransaction> {
  let committed: string[] = []
  return {
    open: () => {
      committed = []
      return memoryLedger()
    },
    another: (store) => store,
    effects: {
      write: (tx, name) => {
        committed.push(name)
        tx.onRollback(() => committed.splice(committed.indexOf(name), 1))
      },
      count: (name) => committed.filter((each) => each === name).length,
    },
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-ledger-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type SqliteStore = LedgerStore<SqliteDatabase>

/** One file per store; a second store on the same file finds it by the first one. */
function onFiles(make: (path: string) => SqliteStore): LedgerContractOptions<SqliteDatabase> {
  const paths = new WeakMap<object, string>()
  const onPath = (path: string): SqliteStore => {
    const store = make(path)
    paths.set(store, path)
    return store
  }
  const pathOf = (store: SqliteStore): string => paths.get(store) ?? ''
  return {
    open: () => {
      const path = join(folder, `${++files}.db`)
      const database = new Database(path)
      database.exec('CREATE TABLE effects (name TEXT NOT NULL)')
      database.close()
      return onPath(path)
    },
    another: (store) => onPath(pathOf(store)),
    synchronous: true,
    effects: {
      write: (tx, name) => void tx.prepare('INSERT INTO effects VALUES (?)').run(name),
      count: (name, store) => {
        const database = new Database(pathOf(store))
        const row = database.prepare('SELECT count(*) AS n FROM effects WHERE name = ?').get(name) as { n: number }
        database.close()
        return row.n
      },
    },
  }
}

/** On the caller's own handle, whose transactions the store may be given. */
function onHandles(make: (path: string) => Database.Database): LedgerContractOptions<SqliteDatabase> {
  const handles = new WeakMap<object, Database.Database>()
  const options = onFiles((path) => {
    const database = make(path)
    const store = sqliteLedger<SqliteDatabase>({ database })
    handles.set(store, database)
    return store
  })
  return {
    ...options,
    inTransaction: async (store, work, end) => {
      const database = handles.get(store) as Database.Database
      database.exec('BEGIN')
      await work(database)
      database.exec(end)
    },
  }
}

function walHandle(path: string): Database.Database {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  return database
}

function oddHandle(path: string): Database.Database {
  const database = new Database(path, { verbose: () => {} })
  database.defaultSafeIntegers(true)
  database.unsafeMode(true)
  return database
}

describe('the ledger in memory', () => {
  for (const { name, run } of ledgerContract(inMemory())) it(name, () => expect(run()).resolves.toBeUndefined())
})

describe.each([
  ['synchronous', aesGcm(KEY)],
  ['asynchronous', asynchronous(KEY)],
])('the ledger in memory, with %s encryption', (_, encryption) => {
  for (const { name, run } of ledgerContract(encryptedContract(inMemory(), encryption)))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger on a SQLite handle, with encryption', () => {
  for (const { name, run } of ledgerContract(encryptedContract(onHandles(walHandle), aesGcm(KEY))))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger in a SQLite file', () => {
  for (const { name, run } of ledgerContract(onFiles((path) => sqliteLedger({ path }))))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger on a SQLite handle', () => {
  for (const { name, run } of ledgerContract(onHandles(walHandle)))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger on a SQLite handle with a rollback journal, bigints and unsafe mode', () => {
  for (const { name, run } of ledgerContract(onHandles(oddHandle)))
    it(name, () => expect(run()).resolves.toBeUndefined())
})
