import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createLedger, json, type LedgerEvent } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { answer, claimed, draft, effect, keep, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()
const QUEUE_MS = 300

/** Holds the only connection, with two calls waiting for it. What it returns lets all of them go on. */
async function occupied(pool: pg.Pool): Promise<() => Promise<unknown>> {
  const client = await pool.connect()
  const waiting = [pool.query('SELECT 1'), pool.query('SELECT 1')]
  return () => {
    client.release()
    return Promise.all(waiting)
  }
}

/** A ledger on one connection, which has learned that a place in its queue takes a hundred milliseconds. */
async function slowLedger() {
  const pool = scene.pool({ max: 1 })
  const ledger = postgresLedger({ pool, schema: scene.schema })
  const claim = await claimed(ledger)
  const free = await occupied(pool)
  const first = claimed(ledger, { patienceMs: 1 })
  await pause(QUEUE_MS)
  await free()
  // Nothing was measured yet: it was not refused.
  await ledger.release(await first)
  return { pool, ledger, claim }
}

const atomic = (patienceMs: number) => ({
  draft: draft({ patienceMs }),
  mayReplace: () => false,
  work: () => keep(),
  options: {},
})

describe('a pool whose queue is deep', () => {
  it('refuses new requests that would wait too long, at once', async () => {
    const { pool, ledger } = await slowLedger()
    const free = await occupied(pool)
    const busy = { name: 'StorageError', code: 'HOLDFAST_POOL_BUSY', effect: 'none' }
    await expect(ledger.insert(draft({ patienceMs: 50 }))).rejects.toMatchObject(busy)
    await expect(ledger.atomic(atomic(50))).rejects.toMatchObject(busy)
    await expect(ledger.insert(draft({ patienceMs: 50 }))).rejects.toThrow(/^The ledger in Postgres has not begun/)
    await free()
    expect((await ledger.insert(draft({ patienceMs: 50 }))).kind).toBe('inserted')
  })

  it('lets those wait that have the time, and those that do not say', async () => {
    const { pool, ledger } = await slowLedger()
    const free = await occupied(pool)
    const calls = Promise.all([
      ledger.insert(draft({ patienceMs: 60_000 })),
      ledger.insert(draft()),
      ledger.atomic(atomic(60_000)),
    ])
    await free()
    expect((await calls).map(({ kind }) => kind)).toEqual(['inserted', 'inserted', 'recorded'])
  })

  it('never refuses what belongs to a request that has begun', async () => {
    const { pool, ledger, claim } = await slowLedger()
    const other = await claimed(ledger)
    const free = await occupied(pool)
    const calls = Promise.all([
      ledger.renew(claim, { leaseMs: 60_000, now: 0 }),
      ledger.complete(claim, answer('done'), 0),
      effect(ledger, other),
    ])
    await free()
    expect(await calls).toEqual([true, true, 'recorded'])
  })

  it('is told to the client as 503 with a time to come back, and to the operator as an error', async () => {
    const { pool, ledger: store } = await slowLedger()
    const events: LedgerEvent[] = []
    const observe = (event: LedgerEvent): void => void events.push(event)
    const ledger = createLedger({ store, scope: 'public', storeTimeout: 50, observe })
    const free = await occupied(pool)
    const headers = { 'idempotency-key': randomUUID() }
    const handlers = [ledger.protect(async () => json({})), ledger.atomic(async () => json({}))]
    for (const handler of handlers) {
      const refused = await handler(new Request('http://shop.test/', { method: 'POST', headers }))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    }
    const told = [
      { type: 'ledger.failed', error: { code: 'HOLDFAST_POOL_BUSY' } },
      { type: 'request.refused', reason: 'unavailable' },
    ]
    expect(events).toMatchObject([...told, ...told])
    await free()
  })

  it('is not known of a pool that does not tell', async () => {
    const { pool, ledger: learned } = await slowLedger()
    await learned.close()
    const silent = new Proxy(pool, {
      get: (target, name) => {
        if (name === 'waitingCount') return undefined
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const ledger = postgresLedger({ pool: silent, schema: scene.schema })
    await ledger.find('s', 'k')
    for (let round = 0; round < 2; round++) {
      const free = await occupied(pool)
      const call = ledger.insert(draft({ patienceMs: 1 }))
      await pause(20)
      await free()
      expect((await call).kind).toBe('inserted')
    }
  })
})
