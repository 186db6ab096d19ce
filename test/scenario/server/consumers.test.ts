import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLedger, type Ledger } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'

/* What a consumer of a broker that delivers at least once does with `once`: the guide on consumers, as a test. */

interface Message {
  readonly offset: number
  readonly paymentId: string
  readonly status: 'paid' | 'refunded'
  readonly version: number
}

const PAID: Message = { offset: 7, paymentId: 'p1', status: 'paid', version: 1 }
const REFUNDED: Message = { offset: 8, paymentId: 'p1', status: 'refunded', version: 2 }

let db: Database.Database
let ledger: Ledger<Database.Database>

beforeEach(() => {
  db = new Database(':memory:')
  db.exec(`create table orders (payment_id text primary key, status text, version integer);
    create table mails (payment_id text, kind text, primary key (payment_id, kind));
    insert into orders values ('p1', 'pending', 0)`)
  ledger = createLedger({ store: sqliteLedger({ database: db }), scope: () => 'public' })
})
afterEach(async () => {
  await ledger.close()
  db.close()
})

/** The change has a guard, so that neither a second nor an older fact changes anything. */
function consume({ paymentId, status, version }: Message) {
  const work = (tx: Database.Database): number => {
    const text = 'update orders set status = ?, version = ? where payment_id = ? and version < ?'
    tx.prepare('insert into mails values (?, ?)').run(paymentId, status)
    return tx.prepare(text).run(status, version, paymentId, version).changes
  }
  return ledger.once(`${paymentId}:${status}`, work, { scope: 'payments' })
}

const orders = (): unknown[] => db.prepare('select status, version from orders').all()
const mails = (): unknown[] => db.prepare('select kind from mails order by kind').pluck().all()

describe('a consumer', () => {
  it('that dies after its work and before it acknowledges skips the message when it comes again', async () => {
    const [delivered, acknowledged]: [Message[], number[]] = [[PAID, PAID], []]
    for (const [times, message] of delivered.entries()) {
      const { duplicate } = await consume(message)
      expect(duplicate).toBe(times === 1)
      // The first time the process is gone by now.
      if (times === 1) acknowledged.push(message.offset)
    }
    expect(acknowledged).toEqual([PAID.offset])
    expect(mails()).toEqual(['paid'])
  })

  it('works once on a fact that was published twice, at two offsets', async () => {
    await consume(PAID)
    expect(await consume({ ...PAID, offset: 99 })).toEqual({ duplicate: true, value: 1 })
    expect(orders()).toEqual([{ status: 'paid', version: 1 }])
  })

  it('lets a guard refuse the older of two facts that come in the wrong order: skipping duplicates does not', async () => {
    expect(await consume(REFUNDED)).toEqual({ duplicate: false, value: 1 })
    expect(await consume(PAID)).toEqual({ duplicate: false, value: 0 })
    expect(orders()).toEqual([{ status: 'refunded', version: 2 }])
  })

  it('has nothing to send where the work that writes down a mail is rolled back', async () => {
    db.prepare("insert into mails values ('p1', 'paid')").run()
    await expect(consume(PAID)).rejects.toThrow('UNIQUE')
    expect(orders()).toEqual([{ status: 'pending', version: 0 }])
    db.prepare('delete from mails').run()
    expect(await consume(PAID)).toEqual({ duplicate: false, value: 1 })
    expect(mails()).toEqual(['paid'])
  })
})
