import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createLedger, json } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'

const ENDED = { name: 'EndedTransactionError', effect: 'unknown' }

/** Work that runs a script of SQL around its own row, as a helper from before may do. */
function shop() {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE charges (name TEXT)')
  const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'public' })
  const charges = (): number => (database.prepare('SELECT count(*) AS n FROM charges').get() as { n: number }).n
  let script = ''
  const work = (tx: Database.Database): void => {
    if (script) tx.exec(script)
    tx.prepare("INSERT INTO charges VALUES ('x')").run()
  }
  const set = (next: string): void => {
    script = next
  }
  return { ledger, charges, work, set }
}

describe('in SQLite, work that ends its transaction itself', () => {
  it.each(['COMMIT', 'ROLLBACK', 'ROLLBACK; BEGIN'])('by %s has its message held until it is resolved', async (sql) => {
    const { ledger, charges, work, set } = shop()
    const deliver = () => ledger.once('m', work, { scope: 'queue' })
    set(sql)
    await expect(deliver()).rejects.toMatchObject(ENDED)
    const before = charges()
    await expect(deliver()).rejects.toMatchObject({ code: 'HOLDFAST_MESSAGE_HELD', effect: 'unknown' })
    expect(charges()).toBe(before)
    set('')
    expect(await ledger.resolve('queue', 'message:m', 'rerun')).toBe(true)
    expect([await deliver(), await deliver()]).toMatchObject([{ duplicate: false }, { duplicate: true }])
    expect(charges()).toBe(before + 1)
  })

  it('by COMMIT and a throw has its message held', async () => {
    const { ledger } = shop()
    const deliver = () =>
      ledger.once(
        'm',
        (tx) => {
          tx.exec('COMMIT')
          throw new Error('broken')
        },
        { scope: 'queue' },
      )
    await expect(deliver()).rejects.toMatchObject({ ...ENDED, cause: { message: 'broken' } })
    await expect(deliver()).rejects.toMatchObject({ code: 'HOLDFAST_MESSAGE_HELD' })
  })

  it.each(['COMMIT', 'ROLLBACK'])('by %s in an atomic request is not run again', async (sql) => {
    const { ledger, charges, work, set } = shop()
    const handler = ledger.atomic((_, tx) => {
      work(tx)
      return json({}, { status: 201 })
    })
    const ask = () => handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'k' } }))
    set(sql)
    await expect(ask()).rejects.toMatchObject(ENDED)
    expect([(await ask()).status, (await ask()).status, charges()]).toEqual([409, 409, 1])
    expect(await ledger.find('public', 'k')).toMatchObject({ state: 'unknown' })
  })
})
