import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createLedger, json } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'

function request(key: string): Request {
  return new Request('http://shop.test/charges', { method: 'POST', headers: { 'idempotency-key': key }, body: '{}' })
}

/** Charges outside, then writes, and answers or throws inside its transaction. */
function shop(inside: { readonly notDone?: boolean; readonly throws?: boolean; readonly given?: boolean }) {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE charges (name TEXT)')
  const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'public' })
  let charges = 0
  const handler = ledger.protect(
    async (_, { effect, notDone }) => {
      charges++
      if (inside.given) database.exec('BEGIN IMMEDIATE')
      const end = (): void => void (inside.given && database.exec('COMMIT'))
      const work = (tx: Database.Database) => {
        tx.prepare('INSERT INTO charges VALUES (?)').run('undone')
        if (inside.notDone) notDone()
        if (inside.throws) throw new Error('disk full')
        return json({}, { status: 503 })
      }
      return effect(work, inside.given ? { transaction: database } : {}).finally(end)
    },
    { external: true },
  )
  return { database, handler, charges: () => charges, state: async () => (await ledger.find('public', 'k'))?.state }
}

describe.each([false, true])('external work in SQLite, in a transaction of its caller: %s', (given) => {
  it.each([false, true])('that does not end well leaves the entry unknown; throws: %s', async (throws) => {
    const { handler, charges, state, database } = shop({ throws, given })
    const first = handler(request('k'))
    if (throws) await expect(first).rejects.toThrow('disk full')
    else expect((await first).status).toBe(503)
    expect(await state()).toBe('unknown')
    expect((await handler(request('k'))).status).toBe(409)
    expect([charges(), database.prepare('SELECT * FROM charges').all()]).toEqual([1, []])
  })

  it.each([false, true])('that says that nothing was done frees the key; throws: %s', async (throws) => {
    const { handler, state, database } = shop({ throws, given, notDone: true })
    await handler(request('k')).catch(() => {})
    expect([await state(), database.prepare('SELECT * FROM charges').all()]).toEqual([undefined, []])
  })
})
