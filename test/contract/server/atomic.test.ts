import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { json, memoryLedger } from '../../../src/server/index.ts'
import type { MemoryTransaction } from '../../../src/server/ledger/memory/memory-transaction.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import type { SqliteDatabase } from '../../../src/sql/sqlite-driver.ts'
import { type AtomicShop, describeAtomic, post, shopLedger } from '../../support/atomic-cases.ts'
import { gate } from '../../support/protected-shop.ts'

function memoryShop(): AtomicShop<MemoryTransaction> {
  const store = memoryLedger()
  let charges = 0
  return {
    ledger: (options) => shopLedger<MemoryTransaction>({ store: store as never, scope: 'public', ...options }),
    charge: (tx) => {
      charges++
      tx.onRollback(() => charges--)
    },
    charges: async () => charges,
  }
}

function sqliteShop(): AtomicShop<SqliteDatabase> {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  database.exec('CREATE TABLE charges (amount INTEGER NOT NULL)')
  const store = sqliteLedger({ database })
  return {
    ledger: (options) => shopLedger<SqliteDatabase>({ store: store as never, scope: 'public', ...options }),
    charge: (tx, amount) => void tx.prepare('INSERT INTO charges VALUES (?)').run(amount),
    charges: async () => (database.prepare('SELECT count(*) AS n FROM charges').get() as { n: number }).n,
  }
}

describe('an atomic handler in memory', () => {
  describeAtomic(memoryShop)

  it('tells a duplicate in flight, and another request under its key, or lets the duplicate wait', async () => {
    const shop = memoryShop()
    const { opened, open } = gate()
    const work = async () => {
      await opened
      return json({ done: true }, { status: 201 })
    }
    const handler = shop.ledger().atomic(work)
    const waiting = shop.ledger({ inFlight: 'wait' }).atomic(work)
    const first = handler(post('a'))
    const second = await handler(post('a'))
    expect([second.status, second.headers.has('retry-after')]).toEqual([409, true])
    expect((await handler(post('a', { amount: 6 }))).status).toBe(422)
    const third = waiting(post('a'))
    open()
    expect((await first).status).toBe(201)
    const replayed = await third
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  })
})

describe('an atomic handler in SQLite', () => {
  describeAtomic(sqliteShop)

  it('is one transaction, with one commit', async () => {
    const texts: string[] = []
    const database = new Database(':memory:', { verbose: (text) => void texts.push(String(text)) })
    database.exec('CREATE TABLE charges (amount INTEGER NOT NULL)')
    const store = sqliteLedger({ database: database as unknown as SqliteDatabase })
    const handler = shopLedger<SqliteDatabase>({ store: store as never, scope: 'public' }).atomic((request, tx) => {
      tx.prepare('INSERT INTO charges VALUES (?)').run(request.json().amount)
      return json({}, { status: 201 })
    })
    await handler(post('a'))
    texts.length = 0
    expect((await handler(post('b'))).status).toBe(201)
    expect(texts.filter((text) => /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)/.test(text))).toEqual([
      'BEGIN IMMEDIATE',
      'COMMIT',
    ])
  })
})
