import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { LedgerStore } from '../../../../src/server/adapter/index.ts'
import { type MemoryTransaction, memoryLedger } from '../../../../src/server/index.ts'
import { sqliteLedger } from '../../../../src/server/sqlite/index.ts'

/** What outlives every server: the entries, and what was really done. */
export interface LedgerData {
  /** Whether an effect may wait in the middle. */
  readonly waits: boolean
  connect(): LedgerStore
  write(tx: unknown, key: string): void
  count(key: string): number
  end(): Promise<void>
}

export function inMemory(): LedgerData {
  const done: string[] = []
  const store = memoryLedger() as unknown as LedgerStore
  return {
    waits: true,
    connect: () => store,
    write: (tx, key) => {
      done.push(key)
      ;(tx as MemoryTransaction).onRollback(() => done.splice(done.indexOf(key), 1))
    },
    count: (key) => done.filter((each) => each === key).length,
    end: async () => {},
  }
}

/** One file, and one connection for each server. */
export function inSqlite(): LedgerData {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-interleavings-'))
  const path = join(folder, 'ledger.db')
  const judge = new Database(path)
  judge.pragma('journal_mode = WAL')
  judge.exec('CREATE TABLE effects (key TEXT NOT NULL)')
  const stores: LedgerStore[] = []
  return {
    waits: false,
    connect: () => {
      const store = sqliteLedger({ path, durability: 'process' }) as unknown as LedgerStore
      stores.push(store)
      return store
    },
    write: (tx, key) => void (tx as Database.Database).prepare('INSERT INTO effects VALUES (?)').run(key),
    count: (key) => (judge.prepare('SELECT count(*) AS n FROM effects WHERE key = ?').get(key) as { n: number }).n,
    end: async () => {
      await Promise.all(stores.map((store) => store.close()))
      judge.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
