import pg from 'pg'
import type { LedgerStore } from '../../src/server/adapter/index.ts'
import type { IdempotencyContext, Reply } from '../../src/server/index.ts'
import { postgresLedger } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import { type SqliteDatabase, sqliteLedger } from '../../src/server/sqlite/index.ts'
import { pause } from './pause.ts'

/** Where the shop keeps its rows and its ledger. */
export type StoreAddress =
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }
  | { readonly kind: 'sqlite'; readonly path: string }

/** One row of the shop. Nothing keeps it from being there twice. */
export interface Written {
  readonly number: number
  readonly nonce: string
  readonly key: string
  /** How long the transaction stays open, where that is possible. */
  readonly pauseMs: number
}

export interface ShopStore {
  readonly ledger: LedgerStore<unknown, unknown>
  /** One row, the key and the answer in one transaction. The answer may be a throw. */
  effect(context: IdempotencyContext<unknown, unknown>, written: Written, answer: () => Reply): Promise<Reply>
  /** The same inside of the transaction of an atomic handler; no promise where the store's transactions are synchronous. */
  write(tx: unknown, written: Written, answer: () => Reply): Reply | Promise<Reply>
  /** Writes the row outside of any effect, unless there is one of its key. */
  writeIfAbsent(written: Written): Promise<void>
  /** All connections of the shop's own pool are busy for so long; resolves when they are. Only where there is a pool. */
  exhaust?(ms: number): Promise<void>
  /** The disk is full for so long, as this process sees it. Only where the store runs inside of it. */
  fill?(ms: number): void
}

/** How requests reach the ledger of each replica. */
export const REPLICAS = ['fetch', 'node', 'framework'] as const

export const LEASE_MS = 1000

/** How the shop's connections can be told from others. */
export const CONNECTIONS = 'holdfast-hunt-shop'

/** What a pool needs beside its address, so that no call waits for ever for a connection that is cut off in silence. */
const PATIENCE = { keepAlive: true, connectionTimeoutMillis: 2 * LEASE_MS, query_timeout: 3 * LEASE_MS } as const

export function openShopStore(address: StoreAddress): Promise<ShopStore> {
  return address.kind === 'postgres' ? postgresShop(address) : sqliteShop(address)
}

async function postgresShop({ url, schema }: StoreAddress & { kind: 'postgres' }): Promise<ShopStore> {
  const application_name = `${CONNECTIONS}-${schema}`
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name, ...PATIENCE })
  pool.on('error', () => {})
  const write = async (tx: pg.PoolClient, written: Written, answer: () => Reply): Promise<Reply> => {
    const { number, nonce, key } = written
    const text = `INSERT INTO ${schema}.orders (number, nonce, key, at) VALUES ($1, $2, $3, $4)`
    await tx.query(text, [number, nonce, key, Date.now()])
    await pause(written.pauseMs)
    return answer()
  }
  return {
    writeIfAbsent: async ({ number, nonce, key }) => {
      const client = await pool.connect()
      let failed = true
      try {
        await client.query('BEGIN')
        await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [key])
        const text = `INSERT INTO ${schema}.orders (number, nonce, key, at) SELECT $1, $2, $3, $4
          WHERE NOT EXISTS (SELECT FROM ${schema}.orders WHERE key = $3)`
        await client.query(text, [number, nonce, key, Date.now()])
        await client.query('COMMIT')
        failed = false
      } finally {
        client.release(failed)
      }
    },
    exhaust: (ms) => exhaustPool(pool, ms),
    ledger: postgresLedger({ pool, schema }) as LedgerStore<unknown, unknown>,
    effect: (context, written, answer) =>
      (context as IdempotencyContext<pg.PoolClient>).effect((tx) => write(tx, written, answer)),
    write: (tx, written, answer) => write(tx as pg.PoolClient, written, answer),
  }
}

/** As a burst of slow queries does it, or a leak. */
async function exhaustPool(pool: pg.Pool, ms: number): Promise<void> {
  const taken = await Promise.allSettled(Array.from({ length: pool.options.max ?? 10 }, () => pool.connect()))
  const clients = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  setTimeout(() => {
    for (const client of clients) client.release()
  }, ms)
}

/** More pages than SQLite has. */
const NO_LIMIT = 2 ** 32 - 2

/** On a handle of the shop's own, or on the ledger's: both are the same file. */
async function sqliteShop({ path }: StoreAddress & { kind: 'sqlite' }): Promise<ShopStore> {
  const { default: Database } = await import('better-sqlite3')
  const ledger = Math.random() < 0.5 ? sqliteLedger({ path }) : sqliteLedger({ database: new Database(path) })
  /** The one that the ledger works with; seen in the first transaction. */
  let handle: SqliteDatabase | undefined
  const write = (tx: SqliteDatabase, { number, nonce, key }: Written, answer: () => Reply): Reply => {
    handle = tx
    const text = 'INSERT INTO orders (number, nonce, key, at) VALUES (?, ?, ?, ?)'
    tx.prepare(text).run(number, nonce, key, Date.now())
    return answer()
  }
  const own = new Database(path, { timeout: 2000 })
  return {
    writeIfAbsent: async ({ number, nonce, key }) => {
      const text = `INSERT INTO orders (number, nonce, key, at) SELECT ?, ?, ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM orders WHERE key = ?)`
      own.prepare(text).run(number, nonce, key, Date.now(), key)
    },
    ledger: ledger as LedgerStore<unknown, unknown>,
    effect: (context, written, answer) =>
      (context as IdempotencyContext<SqliteDatabase, Reply>).effect((tx) => write(tx, written, answer)),
    write: (tx, written, answer) => write(tx as SqliteDatabase, written, answer),
    fill: (ms) => {
      // As many pages as there are: SQLite takes no less.
      handle?.pragma('max_page_count = 1')
      setTimeout(() => handle?.pragma(`max_page_count = ${NO_LIMIT}`), ms)
    },
  }
}
