import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/foundation/clock.ts'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import type { SimulatedApi } from '../../../src/testing/simulation/api-server.ts'
import { reportText } from '../../../src/testing/simulation/report-text.ts'
import { simulate } from '../../../src/testing/simulation/simulate.ts'

function shopInMemory(clock: Clock): SimulatedApi {
  const done: string[] = []
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', clock })
  return {
    fetch: ledger.protect((_, { effect, key = '' }) =>
      effect((tx) => {
        done.push(key)
        tx.onRollback(() => done.splice(done.indexOf(key), 1))
        return json({ done: true }, { status: 201 })
      }),
    ),
    effects: (key) => done.filter((each) => each === key).length,
  }
}

function shopInSqlite(clock: Clock): SimulatedApi {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE orders (key TEXT NOT NULL)')
  const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'public', clock })
  const orders = database.prepare('SELECT count(*) AS n FROM orders WHERE key = ?')
  return {
    fetch: ledger.protect((_, { effect, key }) =>
      effect((tx) => {
        tx.prepare('INSERT INTO orders VALUES (?)').run(key)
        return json({ done: true }, { status: 201 })
      }),
    ),
    effects: (key) => (orders.get(key) as { readonly n: number }).n,
  }
}

describe('a client and a server of this library, on a network that loses and repeats', () => {
  it.each([
    ['memory', shopInMemory, 200],
    ['SQLite', shopInSqlite, 100],
  ] as const)('keep every promise, with the ledger in %s', { timeout: 120_000 }, async (_, api, histories) => {
    const report = await simulate({ seed: 1, histories, api })
    expect(report.failed, reportText(report)).toEqual([])
    expect(report.retries).toBeGreaterThan(histories / 4)
  })
})
