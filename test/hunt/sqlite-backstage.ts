import { join } from 'node:path'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import type { Backstage, OrderRow, Strike } from './backstage.ts'
import { pause } from './pause.ts'

const NO_BACKEND = { never: 'SQLite runs inside the server: there is no backend, and no connection to one' }
const NO_POSTGRES = { never: 'the ledger is in SQLite' }

/** In a file of this folder. */
export async function sqliteBackstage(folder: string): Promise<Backstage> {
  const { default: Database } = await import('better-sqlite3')
  const path = join(folder, 'shop.db')
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.exec(
    'CREATE TABLE orders (number integer NOT NULL, nonce text NOT NULL, key text NOT NULL, at integer NOT NULL)',
  )
  const store = sqliteLedger({ database })
  // One connection writes: no other one can.
  const lock: Strike = async (random) => {
    const own = new Database(path)
    try {
      own.exec('BEGIN IMMEDIATE')
      await pause(random() * 400)
      own.exec('COMMIT')
      return true
    } catch {
      return false
    } finally {
      own.close()
    }
  }
  return {
    addressOf: () => ({ kind: 'sqlite', path }),
    blows: {
      'store locked': lock,
      'disk full': async (random, { say }) => {
        say(`fill ${300 + random() * 900}`)
        return false
      },
      'backend terminated': NO_BACKEND,
      'half-open connection': NO_BACKEND,
      'replica cut off': NO_BACKEND,
      'pool exhausted': NO_BACKEND,
      'Postgres restart': NO_POSTGRES,
      'Postgres kill': NO_POSTGRES,
    },
    healed: async () => {},
    rows: async () => database.prepare('SELECT number, nonce, key, at FROM orders').all() as OrderRow[],
    find: (key) => store.find('public', key),
    unfinished: async () => {
      const { running, unknown } = await store.stats(Date.now())
      return running + unknown
    },
    close: async () => {
      await store.close()
      database.close()
    },
  }
}
