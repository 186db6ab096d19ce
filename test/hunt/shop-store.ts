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
}

/** How the shop's connections can be told from others. */
export const CONNECTIONS = 'holdfast-hunt-shop'

export function openShopStore(address: StoreAddress): Promise<ShopStore> {
  return address.kind === 'postgres' ? postgresShop(address) : sqliteShop(address)
}

async function postgresShop({ url, schema }: StoreAddress & { kind: 'postgres' }): Promise<ShopStore> {
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name: `${CONNECTIONS}-${schema}` })
  pool.on('error', () => {})
  return {
    ledger: postgresLedger({ pool, schema }) as LedgerStore<unknown, unknown>,
    effect: (context, written, answer) =>
      (context as IdempotencyContext<pg.PoolClient>).effect(async (tx) => {
        const { number, nonce, key } = written
        const text = `INSERT INTO ${schema}.orders (number, nonce, key, at) VALUES ($1, $2, $3, $4)`
        await tx.query(text, [number, nonce, key, Date.now()])
        await pause(written.pauseMs)
        return answer()
      }),
  }
}

/** On a handle of the shop's own, or on the ledger's: both are the same file. */
async function sqliteShop({ path }: StoreAddress & { kind: 'sqlite' }): Promise<ShopStore> {
  const { default: Database } = await import('better-sqlite3')
  const ledger = Math.random() < 0.5 ? sqliteLedger({ path }) : sqliteLedger({ database: new Database(path) })
  return {
    ledger: ledger as LedgerStore<unknown, unknown>,
    effect: (context, { number, nonce, key }, answer) =>
      (context as IdempotencyContext<SqliteDatabase, Reply>).effect((tx) => {
        const text = 'INSERT INTO orders (number, nonce, key, at) VALUES (?, ?, ?, ?)'
        tx.prepare(text).run(number, nonce, key, Date.now())
        return answer()
      }),
  }
}
