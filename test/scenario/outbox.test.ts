import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { ConfigurationError, KeyReuseError, StorageError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { listed, neighbourhood, ORIGIN, outcome, settle } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'
import { totalEffects } from '../support/shared-model-server.ts'

function shop(kind: 'path' | 'database') {
  const path = join(temporaryFolder(), 'shop.db')
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)')
  const journal = sqliteJournal(kind === 'path' ? { path, durability: 'process' } : { database: db })
  afterwards(() => db.close())
  afterwards(() => journal.close())
  const place = neighbourhood(journal)
  const options = { journal } as const
  const orders = (): number => (db.prepare('SELECT count(*) AS n FROM orders').get() as { n: number }).n
  return { db, place, options, orders }
}

const CALL = { json: { amount: 5000 }, id: 'order:1', name: 'charge' } as const

/** The journal works on real threads, so the clock alone does not tell when it is done. */
async function until(condition: () => boolean | Promise<boolean>, clock: { advance(ms: number): Promise<void> }) {
  for (let turn = 0; turn < 500; turn++) {
    if (await condition()) return
    await clock.advance(100)
  }
  throw new Error('It did not happen')
}

for (const kind of ['path', 'database'] as const) {
  describe(`the outbox, with a journal by ${kind}`, () => {
    it('makes key and bytes, and writes nothing', async () => {
      const { place, options } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      expect(prepared).toMatchObject({
        key: expect.stringMatching(/^[0-9a-f-]{36}$/),
        id: 'order:1',
        name: 'charge',
        method: 'POST',
        url: `${ORIGIN}/charges`,
      })
      expect(Object.keys(prepared)).toEqual(['key', 'id', 'name', 'method', 'url', 'persist'])
      expect(() => client.send({ ...prepared })).toThrow(/prepare\(\)/)
      expect(await listed(client)).toEqual([])
      expect(await client.resume()).toMatchObject({ claimed: 0 })
    })

    it('is not sent after somebody has cancelled it', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      const settled: string[] = []
      client.onSettled('charge', ({ status }) => void settled.push(status))
      const prepared = await client.prepare('POST', '/charges', CALL)
      db.transaction(() => void prepared.persist(db))()
      const other = place.client(options)
      await other.cancel(prepared.key)
      const { error } = await outcome(client.send(prepared))
      expect(error).toMatchObject({ reason: 'aborted', effect: 'none', pending: false })
      await client.resume()
      expect(settled).toEqual(['cancelled'])
      expect(totalEffects(place.server)).toBe(0)
      await other.close()
    })

    it('is not called undone by a client that looks for it elsewhere', async () => {
      const { db, place, options } = shop(kind)
      const prepared = await place.client(options).prepare('POST', '/charges', CALL)
      db.transaction(() => void prepared.persist(db))()
      const other = place.client({ ...options, namespace: 'other' })
      const { error } = await outcome(other.send(prepared))
      expect(error).toMatchObject({ code: 'HOLDFAST_UNKNOWN_OPERATION', effect: 'unknown', pending: true })
      await other.close()
    })

    it('can be persisted first in a deferred transaction, whatever other connections write meanwhile', async () => {
      const { db, place, options, orders } = shop(kind)
      const client = place.client(options)
      await client.post('/charges', { json: 1 })
      const prepared = await client.prepare('POST', '/charges', CALL)
      const other = new Database(db.name, { timeout: 0 })
      afterwards(() => other.close())
      const prepare = db.prepare.bind(db)
      // After each read of this connection another one writes, if it can.
      Object.assign(db, {
        prepare: (text: string) => {
          const statement = prepare(text)
          const get = statement.get.bind(statement)
          return Object.assign(statement, {
            get: (...values: unknown[]) => {
              const row = get(...values)
              try {
                other.exec('INSERT INTO orders DEFAULT VALUES')
              } catch {}
              return row
            },
          })
        },
      })
      db.transaction(() => {
        void prepared.persist(db)
        db.exec('INSERT INTO orders DEFAULT VALUES')
      })()
      expect(orders()).toBeGreaterThan(0)
      expect(await client.operation('order:1')).toMatchObject({ status: 'pending' })
    })

    it('says that a transaction which has read before cannot write, and not after how many seconds', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      await client.post('/charges', { json: 1 })
      const prepared = await client.prepare('POST', '/charges', CALL)
      const other = new Database(db.name)
      afterwards(() => other.close())
      const late = db.transaction(() => {
        db.prepare('SELECT count(*) FROM orders').get()
        other.exec('INSERT INTO orders DEFAULT VALUES')
        void prepared.persist(db)
      })
      expect(late).toThrow(StorageError)
      expect(late).toThrow(/another connection has written.*immediate\(\)/)
      expect(late).not.toThrow(/5 s/)
    })

    it('keeps the order of a lane: one that is sent now waits for one that was persisted before it', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      const lane = { lane: 'order:1' } as const
      const [first, second] = [
        await client.prepare('POST', '/charges', { body: 'a', ...lane }),
        await client.prepare('POST', '/charges', { body: 'b', ...lane }),
      ]
      db.transaction(() => {
        void first.persist(db)
        void second.persist(db)
      })()
      const sent = outcome(client.send(second))
      await until(() => client.events.some((event) => event.type === 'operation.waiting'), place.clock)
      expect(place.server.calls).toHaveLength(0)
      expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      await until(() => place.server.calls.length === 2, place.clock)
      expect((await sent).value?.status).toBe(201)
      expect(place.server.calls.map(({ text }) => text)).toEqual(['a', 'b'])
    })

    it('makes the operation pending with the commit, and a resume sends it', async () => {
      const { db, place, options, orders } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      db.transaction(() => {
        db.exec('INSERT INTO orders VALUES (1)')
        expect(prepared.persist(db)).toBeUndefined()
      })()
      expect(orders()).toBe(1)
      expect(await listed(client)).toEqual([`${prepared.key} pending`])
      const told: string[] = []
      client.onSettled('charge', ({ operation }) => told.push(operation.key))
      expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect(told).toEqual([prepared.key])
      expect(place.server.calls).toMatchObject([
        { text: '{"amount":5000}', headers: { 'idempotency-key': prepared.key } },
      ])
    })

    it('leaves nothing with a rollback', async () => {
      const { db, place, options, orders } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      const transaction = db.transaction(() => {
        db.exec('INSERT INTO orders VALUES (1)')
        void prepared.persist(db)
        throw new Error('changed my mind')
      })
      expect(transaction).toThrow('changed my mind')
      expect(orders()).toBe(0)
      expect(await listed(client)).toEqual([])
      expect(await client.resume()).toMatchObject({ claimed: 0 })
      const { error } = await outcome(client.send(prepared))
      expect(error).toMatchObject({ effect: 'none', pending: false })
      expect(place.server.calls).toHaveLength(0)
    })

    // A journal on the very handle waits for the transaction first.
    it.runIf(kind === 'path')('says unknown and pending of one whose transaction may still commit', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      db.exec('BEGIN')
      void prepared.persist(db)
      const { error } = await outcome(client.send(prepared))
      expect(error).toMatchObject({ name: 'StorageError', effect: 'unknown', pending: true })
      db.exec('COMMIT')
      expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect(totalEffects(place.server)).toBe(1)
    })

    it('refuses an id that is taken, and with it the whole transaction', async () => {
      const { db, place, options, orders } = shop(kind)
      const client = place.client(options)
      const first = await client.prepare('POST', '/charges', CALL)
      db.transaction(() => void first.persist(db))()
      const second = await client.prepare('POST', '/charges', CALL)
      const transaction = db.transaction(() => {
        db.exec('INSERT INTO orders VALUES (1)')
        void second.persist(db)
      })
      expect(transaction).toThrow(KeyReuseError)
      expect(orders()).toBe(0)
      expect(await listed(client)).toEqual([`${first.key} pending`])
    })

    it('refuses to write outside a transaction, into another file, and into what is no database', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      expect(() => prepared.persist(db)).toThrow(ConfigurationError)
      const elsewhere = new Database(join(temporaryFolder(), 'other.db'))
      afterwards(() => elsewhere.close())
      expect(() => elsewhere.transaction(() => prepared.persist(elsewhere))()).toThrow(ConfigurationError)
      for (const nothing of [undefined, null, {}, 'db'])
        expect(() => prepared.persist(nothing)).toThrow(ConfigurationError)
      expect(await listed(client)).toEqual([])
    })

    it('is sent now by `send`, and is carried on where that gives up', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client({ ...options, retry: false })
      const [good, bad] = [
        await client.prepare('POST', '/charges', CALL),
        await client.prepare('POST', '/charges', { body: 'x' }),
      ]
      db.transaction(() => {
        void good.persist(db)
        void bad.persist(db)
      })()
      const handle = client.send(good)
      expect(await handle.json()).toEqual({ key: good.key })
      expect(handle.key).toBe(good.key)
      place.server.weather = () => ({ status: 503 })
      expect((await outcome(client.send(bad))).error).toMatchObject({ pending: true, effect: 'unknown' })
      place.server.weather = () => 'fine'
      expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect(totalEffects(place.server)).toBe(2)
    })

    it('is carried on where another caller that asks for it gives up or leaves', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client({ ...options, retry: false })
      const prepared = await client.prepare('POST', '/charges', CALL)
      db.transaction(() => void prepared.persist(db))()
      place.server.weather = () => ({ status: 503 })
      for (const asked of [client.retry('order:1'), client.post('/charges', CALL)]) {
        expect((await outcome(asked)).error).toMatchObject({ pending: true })
      }
      place.server.weather = () => 'hang-before'
      const controller = new AbortController()
      const joined = client.post('/charges', { ...CALL, signal: controller.signal })
      await joined.accepted
      controller.abort(new Error('enough'))
      expect((await outcome(joined)).error).toMatchObject({ message: 'enough' })
      await until(async () => (await client.operation('order:1'))?.status === 'pending', place.clock)
      place.server.weather = () => 'fine'
      await until(async () => (await client.resume()).succeeded === 1, place.clock)
      expect(totalEffects(place.server)).toBe(1)
    })

    it('is found by a continuous resume of another client', async () => {
      const { db, place, options } = shop(kind)
      const watcher = place.client(options)
      const watching = watcher.resume({ continuous: true })
      await settle(place.clock)
      const prepared = await place.client(options).prepare('POST', '/charges', CALL)
      db.transaction(() => void prepared.persist(db))()
      await until(() => totalEffects(place.server) === 1, place.clock)
      await watcher.close()
      expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
    })

    it('is joined by a call with the same id', async () => {
      const { db, place, options } = shop(kind)
      const client = place.client(options)
      const prepared = await client.prepare('POST', '/charges', CALL)
      db.transaction(() => void prepared.persist(db))()
      const handle = client.post('/charges', CALL)
      expect(await handle.json()).toEqual({ key: prepared.key })
      expect(totalEffects(place.server)).toBe(1)
    })
  })
}

describe('a prepared operation', () => {
  it('that was not persisted can be sent as a call', async () => {
    const { place, options } = shop('path')
    const client = place.client(options)
    const prepared = await client.prepare('PUT', '/charges', { ...CALL, headers: { 'x-mine': '1' } })
    expect(await client.send(prepared).json()).toEqual({ key: prepared.key })
    expect(place.server.calls).toMatchObject([
      { method: 'PUT', text: '{"amount":5000}', headers: { 'x-mine': '1', 'content-type': 'application/json' } },
    ])
  })

  it('cannot be persisted in a journal without transactions, which says so', async () => {
    const client = neighbourhood().client()
    const prepared = await client.prepare('POST', '/charges', CALL)
    expect(() => prepared.persist({})).toThrow(StorageError)
  })

  it('does not care what becomes of the body that it was made from', async () => {
    const { db, place, options } = shop('database')
    const client = place.client(options)
    const body = new TextEncoder().encode('one')
    const preparing = client.prepare('POST', '/charges', { body })
    body.fill(0)
    const prepared = await preparing
    db.transaction(() => void prepared.persist(db))()
    await client.resume()
    expect(place.server.calls[0]?.text).toBe('one')
  })
})
