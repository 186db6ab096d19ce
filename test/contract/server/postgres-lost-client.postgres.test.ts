import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { claimed, deferred, effect, keep, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

/** Terminates a backend from another thread, once what it was asked is done. */
const TERMINATOR = `
const { createRequire } = require('node:module')
const { workerData: { url, pid, flag, from } } = require('node:worker_threads')
const { Client } = createRequire(from)('pg')
const client = new Client({ connectionString: url })
client.connect()
  .then(() => { Atomics.store(flag, 0, 1); Atomics.notify(flag, 0); Atomics.wait(flag, 0, 1) })
  .then(() => client.query('SELECT pg_sleep(0.3), pg_terminate_backend($1, 5000)', [pid]))
  .then(() => client.end())
  .then(() => { Atomics.store(flag, 0, 3); Atomics.notify(flag, 0) })
`

it('survives a connection that is lost in the moment in which it is taken from the pool', async () => {
  const pool = scene.pool({ max: 1 })
  const ledger: PgLedger = postgresLedger({ pool, schema: scene.schema })
  const claim = await claimed(ledger)
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { url: scene.url, pid: rows[0]?.pid, flag, from: import.meta.url }
  const worker = new Worker(TERMINATOR, { eval: true, workerData })
  while (Atomics.load(flag, 0) !== 1) await new Promise((resolve) => setTimeout(resolve, 10))

  const before = pool.query('SELECT pg_sleep(0.1)')
  const waiting = effect(ledger, claim)
  // The statement is on its way; then this thread hears nothing until the backend is gone. What comes of it comes at once.
  await new Promise((resolve) => setTimeout(resolve, 20))
  Atomics.store(flag, 0, 2)
  Atomics.notify(flag, 0)
  Atomics.wait(flag, 0, 2, 20_000)

  await before
  await expect(waiting).rejects.toThrow(StorageError)
  expect(await scene.effects(claim.key)).toBe(0)
  await worker.terminate()
})

/** As many at once as the pool has connections, each waiting for one more. */
describe('work that takes a second connection of the same pool', () => {
  const LEASE_MS = 300
  const ENDED = { message: expect.stringContaining('ended the transaction (25P03)') }

  it('in an effect fails when the server ends its transaction, and the pool is free again', async () => {
    const pool = scene.pool({ max: 2 })
    const ledger: PgLedger = postgresLedger({ pool, schema: scene.schema })
    const claims = [await claimed(ledger), await claimed(ledger)]
    const both = deferred<void>()
    let begun = 0
    const work = async () => {
      if (++begun === claims.length) both.resolve()
      await both.promise
      await pool.query('SELECT 1')
      return keep()
    }
    const ends = await Promise.allSettled(claims.map((claim) => effect(ledger, claim, { work, leaseMs: LEASE_MS })))
    // The connection of the one that the server ends first may come in time for the other one.
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    expect(failed.length).toBeGreaterThan(0)
    for (const reason of failed) expect(reason).toMatchObject(ENDED)
    const effects = await Promise.all(claims.map(({ key }) => scene.effects(key)))
    expect(effects).toEqual(ends.map(({ status }) => (status === 'fulfilled' ? 1 : 0)))
    expect(await effect(ledger, await claimed(ledger))).toBe('recorded')
    await expect.poll(() => pool.idleCount).toBe(pool.totalCount)
  })

  it('in a message consumer does so, too', async () => {
    const pool = scene.pool({ max: 1 })
    const store: PgLedger = postgresLedger({ pool, schema: scene.schema })
    const message = { scope: 'queue', id: 'm1', retentionMs: 60_000, leaseMs: LEASE_MS, now: 0 }
    const stuck = async (): Promise<string | null> => {
      await pool.query('SELECT 1')
      return null
    }
    await expect(store.consume(message, { work: stuck, options: {} })).rejects.toMatchObject(ENDED)
    const again = await store.consume(message, { work: () => 'done', options: {} })
    expect(again).toEqual({ duplicate: false, value: 'done' })
  })

  it('ends only once if the work goes on for longer than its connection', async () => {
    const pool = scene.pool({ max: 1 })
    const ledger: PgLedger = postgresLedger({ pool, schema: scene.schema })
    let goOn = (): void => {}
    const late = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const work = async () => {
      await late
      throw new Error('late')
    }
    await expect(effect(ledger, await claimed(ledger), { work, leaseMs: LEASE_MS })).rejects.toMatchObject(ENDED)
    goOn()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})

describe('external work whose connection is lost', () => {
  it('keeps its key until it has ended: a duplicate does not reconcile what is still going on', async () => {
    const pool = scene.pool()
    const gate = deferred<void>()
    const begun = deferred<number>()
    const charged: string[] = []
    const options = {
      external: true,
      reconcile: () => (charged.length > 0 ? json({}, { status: 201 }) : ('rerun' as const)),
    }
    const ledger = createLedger({ store: postgresLedger({ pool, schema: scene.schema }), scope: 'public' })
    const handler = ledger.protect(
      (_, { effect: run }) =>
        run(async (tx) => {
          begun.resolve((await tx.query('SELECT pg_backend_pid() AS pid')).rows[0].pid)
          await gate.promise
          charged.push('x')
          return json({}, { status: 201 })
        }),
      options,
    )
    const ask = () =>
      handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'live' } }))
    const first = ask().catch(() => {})
    await scene.query('SELECT pg_terminate_backend($1)', [await begun.promise])
    await first
    expect([(await ask()).status, (await ledger.find('public', 'live'))?.state]).toEqual([409, 'running'])
    gate.resolve()
    await expect.poll(async () => (await ledger.find('public', 'live'))?.state).toBe('unknown')
    expect((await ask()).status).toBe(201)
    expect(charged).toEqual(['x'])
  })
})
