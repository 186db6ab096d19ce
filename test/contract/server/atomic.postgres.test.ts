import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { json, type LedgerEvent } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { type AtomicShop, describeAtomic, post, shopLedger } from '../../support/atomic-cases.ts'
import { cuttingProxy } from '../../support/cutting-proxy.ts'
import { deferred, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'
import { traced } from '../../support/traced-pool.ts'

const scene = ledgerScene()
let shops = 0

function postgresShop(pool: pg.Pool = scene.pool()): AtomicShop<PgTransaction> {
  const name = `shop ${++shops}`
  const store = postgresLedger({ pool, schema: scene.schema })
  return {
    ledger: (options) => shopLedger<PgTransaction>({ store: store as never, scope: 'public', ...options }),
    charge: async (tx) => void (await tx.query('INSERT INTO charges (name) VALUES ($1)', [name])),
    charges: () => scene.effects(name),
  }
}

/** A handler that is held up inside of its transaction. */
function heldCharge(shop: AtomicShop<PgTransaction>) {
  const begun = deferred<number>()
  const goOn = deferred<void>()
  const handler = shop.ledger().atomic(async (_, tx) => {
    await shop.charge(tx, 5)
    const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    begun.resolve(rows[0]?.pid ?? 0)
    await goOn.promise
    return json({ done: true }, { status: 201 })
  })
  return { handler, begun: begun.promise, goOn: () => goOn.resolve() }
}

describe('an atomic handler in Postgres', () => {
  beforeEach(async () => {
    await postgresShop().ledger().stats()
    await scene.query('TRUNCATE holdfast_entries')
  })

  describeAtomic(() => postgresShop())

  it('is one transaction in three round trips', async () => {
    const pool = scene.pool({ max: 1 })
    const trace = traced(pool)
    const shop = postgresShop(pool)
    const handler = shop.ledger().atomic(async (_, tx) => {
      await shop.charge(tx, 5)
      return json({}, { status: 201 })
    })
    await handler(post('trips-1'))
    trace.clear()
    expect((await handler(post('trips-2'))).status).toBe(201)
    expect(trace.texts).toEqual([
      expect.stringMatching(/^BEGIN; SELECT \S+_take_v1\([^;]*$/),
      expect.stringMatching(/^INSERT INTO charges/),
      expect.stringMatching(/^SET LOCAL ROLE NONE; SELECT \S+_put_v2\([^;]*; COMMIT$/),
    ])
    expect(trace.trips).toBe(3)
    trace.clear()
    expect((await handler(post('trips-2'))).headers.get('idempotency-replayed')).toBe('true')
    expect(trace.texts).toEqual([expect.stringMatching(/_take_v1/), 'ROLLBACK'])
    expect(trace.trips).toBe(2)
  })

  it('tells a duplicate in flight, and another request under its key', async () => {
    const shop = postgresShop()
    const { handler, begun, goOn } = heldCharge(shop)
    const first = handler(post('flight'))
    await begun
    const [second, other] = await Promise.all([handler(post('flight')), handler(post('flight', { amount: 6 }))])
    expect([second.status, second.headers.has('retry-after'), other.status]).toEqual([409, true, 422])
    goOn()
    expect([(await first).status, await shop.charges()]).toEqual([201, 1])
  })

  it('whose connection is killed leaves nothing, and its key is free at once', async () => {
    const shop = postgresShop()
    const { handler, begun, goOn } = heldCharge(shop)
    const first = handler(post('killed'))
    await scene.terminate(await begun)
    expect(
      (
        await postgresShop()
          .ledger()
          .atomic(async () => json({}, { status: 201 }))(post('killed'))
      ).status,
    ).toBe(201)
    goOn()
    expect((await first).status).toBe(503)
    expect(await shop.charges()).toBe(0)
  })

  it('whose connection breaks at the commit is in doubt, and the ledger says so in its own words', async () => {
    const proxy = await cuttingProxy(scene.url)
    const errors: unknown[] = []
    const observe = (event: LedgerEvent): unknown => event.type === 'ledger.failed' && errors.push(event.error)
    const shop = postgresShop(scene.pool({ connectionString: proxy.url }))
    const handler = shop.ledger({ observe }).atomic(async (_, tx) => {
      await shop.charge(tx, 5)
      proxy.cutCommit('before')
      return json({}, { status: 201 })
    })
    expect((await handler(post('cut'))).status).toBe(503)
    expect(errors).toEqual([expect.any(StorageError)])
    expect(await shop.charges()).toBe(0)
    await proxy.close()
  })

  it('beside a protected one with the same key: the work of one of them is kept', async () => {
    const shop = postgresShop()
    const { handler, begun, goOn } = heldCharge(shop)
    const protect = shop.ledger().protect(async (_, { effect }) =>
      effect(async (tx) => {
        await shop.charge(tx, 5)
        return json({ by: 'protect' }, { status: 201 })
      }),
    )
    const first = handler(post('beside'))
    await begun
    expect((await protect(post('beside'))).status).toBe(201)
    goOn()
    expect((await first).status).toBe(409)
    expect(await shop.charges()).toBe(1)
    expect(await (await handler(post('beside'))).json()).toEqual({ by: 'protect' })
  })
})
