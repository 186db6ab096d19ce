import { join } from 'node:path'
import pg from 'pg'
import type { Entry } from '../../src/server/index.ts'
import { postgresLedger } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { pause } from './pause.ts'
import { CONNECTIONS, type StoreAddress } from './shop-store.ts'

export interface OrderRow {
  readonly number: number
  readonly nonce: string
}

/** What the hunters can see and break behind the shop's back. */
export interface Backstage {
  readonly address: StoreAddress
  rows(): Promise<OrderRow[]>
  find(key: string): Promise<Entry | undefined>
  /** How many entries nobody has ended. */
  unfinished(): Promise<number>
  /** Breaks a connection between shop and store, or keeps the shop from writing for a while. */
  strike(random: () => number): Promise<boolean>
  close(): Promise<void>
}

/** In a schema of its own. */
export async function postgresBackstage(url: string, schema: string): Promise<Backstage> {
  const pool = new pg.Pool({ connectionString: url, max: 2 }).on('error', () => {})
  await pool.query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (number integer NOT NULL, nonce text NOT NULL)`,
  )
  const store = postgresLedger({ pool, schema })
  return {
    address: { kind: 'postgres', url, schema },
    rows: async () => (await pool.query<OrderRow>(`SELECT number, nonce FROM ${schema}.orders`)).rows,
    find: (key) => store.find('public', key),
    unfinished: async () => {
      const { running, unknown } = await store.stats(Date.now())
      return running + unknown
    },
    strike: (random) => terminateOne(pool, `${CONNECTIONS}-${schema}`, random),
    close: async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}

async function terminateOne(pool: pg.Pool, name: string, random: () => number): Promise<boolean> {
  const text = `SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY state LIKE 'idle in%' DESC, state, pid`
  const { rows } = await pool.query<{ pid: number }>(text, [name])
  // Those inside a transaction come first, and are the more likely victims.
  const victim = rows[Math.floor(random() ** 3 * rows.length)]
  if (!victim) return false
  await pool.query('SELECT pg_terminate_backend($1)', [victim.pid])
  return true
}

/** In a file of this folder. */
export async function sqliteBackstage(folder: string): Promise<Backstage> {
  const { default: Database } = await import('better-sqlite3')
  const path = join(folder, 'shop.db')
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE orders (number integer NOT NULL, nonce text NOT NULL)')
  const store = sqliteLedger({ database })
  return {
    address: { kind: 'sqlite', path },
    rows: async () => database.prepare('SELECT number, nonce FROM orders').all() as OrderRow[],
    find: (key) => store.find('public', key),
    unfinished: async () => {
      const { running, unknown } = await store.stats(Date.now())
      return running + unknown
    },
    // Nobody can write while somebody else does.
    strike: async (random) => {
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
    },
    close: async () => {
      await store.close()
      database.close()
    },
  }
}
