import { join } from 'node:path'
import pg from 'pg'
import type { Entry } from '../../src/server/index.ts'
import { postgresLedger } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { pause } from './pause.ts'
import { CONNECTIONS, type StoreAddress } from './shop-store.ts'

/** One effect of the shop, under the key and at the time that it was done. */
export interface OrderRow {
  readonly number: number
  readonly nonce: string
  readonly key: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Blows at the store itself. */
export type StoreBlow = 'store locked' | 'backend terminated' | 'Postgres restart'

/** Resolves with whether it hit. */
export type Strike = (random: () => number) => Promise<boolean>

/** What the hunters can see and break behind the shop's back. */
export interface Backstage {
  readonly address: StoreAddress
  /** How each blow is dealt, or why this store has none. */
  readonly blows: Readonly<Record<StoreBlow, Strike | { readonly never: string }>>
  rows(): Promise<OrderRow[]>
  find(key: string): Promise<Entry | undefined>
  /** How many entries nobody has ended. */
  unfinished(): Promise<number>
  close(): Promise<void>
}

export interface PostgresPlace {
  readonly url: string
  /** Left out where the Postgres belongs to somebody else. */
  readonly restart?: (() => Promise<void>) | undefined
}

/** In a schema of its own. */
export async function postgresBackstage({ url, restart }: PostgresPlace, schema: string): Promise<Backstage> {
  const pool = new pg.Pool({ connectionString: url, max: 2 }).on('error', () => {})
  await pool.query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders
       (number integer NOT NULL, nonce text NOT NULL, key text NOT NULL, at double precision NOT NULL)`,
  )
  const store = postgresLedger({ pool, schema })
  return {
    address: { kind: 'postgres', url, schema },
    blows: {
      'store locked': { never: 'Postgres has no one lock that keeps everybody from writing' },
      'backend terminated': (random) => terminateOne(pool, `${CONNECTIONS}-${schema}`, random),
      'Postgres restart': restart
        ? () => restart().then(() => true)
        : { never: 'the Postgres at PG_URL is not ours to restart' },
    },
    rows: async () => (await pool.query<OrderRow>(`SELECT number, nonce, key, at FROM ${schema}.orders`)).rows,
    find: (key) => store.find('public', key),
    unfinished: async () => {
      const { running, unknown } = await store.stats(Date.now())
      return running + unknown
    },
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
  const answer = await pool.query<{ hit: boolean }>('SELECT pg_terminate_backend($1) AS hit', [victim.pid])
  return answer.rows[0]?.hit ?? false
}

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
  // Nobody can write while somebody else does.
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
    address: { kind: 'sqlite', path },
    blows: {
      'store locked': lock,
      'backend terminated': { never: 'SQLite runs inside the server: there is no backend to terminate' },
      'Postgres restart': { never: 'the ledger is in SQLite' },
    },
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
