import type pg from 'pg'
import { expect, it } from 'vitest'
import { createLedger, json, type Ledger } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/postgres/index.ts'
import { post } from '../../support/atomic-cases.ts'
import { pgBouncerScene } from '../../support/pgbouncer-scene.ts'
import { deferred, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

/* PgBouncer in transaction mode gives a connection to Postgres to whichever client begins a transaction next. */

const scene = ledgerScene(pgBouncerScene())

const LEASE_MS = 400

/** A replica: a ledger on a pool of its own. */
function replica(pool: pg.Pool = scene.pool()): Ledger<PgTransaction> {
  const store = postgresLedger({ pool, schema: scene.schema })
  return createLedger({ store, scope: 'public', lease: LEASE_MS }) as Ledger<PgTransaction>
}

const charge = async (tx: PgTransaction, name: string): Promise<void> =>
  void (await tx.query('INSERT INTO charges (name) VALUES ($1)', [name]))

const seen = async (response: Response): Promise<unknown[]> => [
  response.status,
  await response.json(),
  response.headers.get('idempotency-replayed'),
]

async function backendOf(queryable: Pick<pg.Pool, 'query'>): Promise<number> {
  return (await queryable.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0
}

it('is what these tests go through: a client has another backend as soon as one has begun on its own', async () => {
  const [one, other] = [await scene.pool({ max: 1 }).connect(), await scene.pool({ max: 1 }).connect()]
  const before = await backendOf(one)
  await other.query('BEGIN')
  expect(await backendOf(other)).toBe(before)
  expect(await backendOf(one)).not.toBe(before)
  await other.query('ROLLBACK')
  for (const client of [one, other]) client.release()
})

it('lets the ledger open a pool of its own, without the setting that PgBouncer refuses', async () => {
  const store = postgresLedger({ connectionString: scene.url, schema: scene.schema })
  const ledger = createLedger({ store, scope: 'public' })
  const handler = ledger.protect((_, { effect }) => effect(async () => json({ done: true }, { status: 201 })))
  expect(await seen(await handler(post('own-pool')))).toEqual([201, { done: true }, null])
  await ledger.close()
})

it('says what it refuses, where that is a setting of the connection string', async () => {
  const url = new URL(scene.url)
  url.searchParams.set('options', '-c geqo=off')
  const store = postgresLedger({ connectionString: url.href, schema: scene.schema })
  await expect(store.find('public', 'k')).rejects.toThrow(/unsupported startup parameter.*08P01/)
  await store.close()
})

it('protects a handler: its effect and its answer are one commit, and are replayed', async () => {
  const handler = replica().protect((_, { effect }) =>
    effect(async (tx) => {
      await charge(tx, 'protected')
      return json({ backend: await backendOf(tx) }, { status: 201 })
    }),
  )
  const answers = await Promise.all(Array.from({ length: 20 }, () => handler(post('protected'))))
  expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([])
  expect((await handler(post('protected'))).headers.get('idempotency-replayed')).toBe('true')
  expect(await scene.effects('protected')).toBe(1)
})

it('serves an atomic handler: a duplicate in flight is told, and the answer is replayed', async () => {
  const [begun, goOn] = [deferred<void>(), deferred<void>()]
  const handler = replica().atomic(async (_, tx) => {
    await charge(tx, 'atomic')
    begun.resolve()
    await goOn.promise
    return json({ done: true }, { status: 201 })
  })
  const first = handler(post('atomic'))
  await begun.promise
  expect((await handler(post('atomic'))).status).toBe(409)
  goOn.resolve()
  expect(await seen(await first)).toEqual([201, { done: true }, null])
  expect(await seen(await handler(post('atomic')))).toEqual([201, { done: true }, 'true'])
  expect(await scene.effects('atomic')).toBe(1)
})

it('delivers a message once, to whichever replica', async () => {
  const deliver = (): Promise<unknown> => replica().once('message', (tx) => charge(tx, 'once'), { scope: 'queue' })
  await Promise.all([deliver(), deliver(), deliver()])
  expect(await scene.effects('once')).toBe(1)
})

it('writes into a transaction of the caller', async () => {
  const pool = scene.pool()
  const handler = replica(pool).protect(async (_, { effect }) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const reply = await effect(
        async (tx) => {
          await charge(tx, 'given')
          return json({ done: true }, { status: 201 })
        },
        { transaction: client },
      )
      await client.query('COMMIT')
      return reply
    } finally {
      client.release()
    }
  })
  expect(await seen(await handler(post('given')))).toEqual([201, { done: true }, null])
  expect(await seen(await handler(post('given')))).toEqual([201, { done: true }, 'true'])
  expect(await scene.effects('given')).toBe(1)
})

/** A handler that stops inside of its transaction, and says which backend that has. */
function held(name: string) {
  const [begun, goOn] = [deferred<number>(), deferred<void>()]
  const handler = replica().protect((_, { effect }) =>
    effect(async (tx) => {
      await charge(tx, name)
      begun.resolve(await backendOf(tx))
      await goOn.promise
      return json({ by: 'the first' }, { status: 201 })
    }),
  )
  return { handler, begun: begun.promise, goOn: () => goOn.resolve() }
}

const takeOver = (name: string) =>
  replica().protect((_, { effect }) =>
    effect(async (tx) => {
      await charge(tx, name)
      return json({ by: 'the second' }, { status: 201 })
    }),
  )

it('leaves the key of a killed backend to the next request', async () => {
  const { handler, begun, goOn } = held('killed')
  const first = handler(post('killed'))
  await scene.terminate(await begun)
  expect(await seen(await takeOver('killed')(post('killed')))).toEqual([201, { by: 'the second' }, null])
  goOn()
  expect((await first).status).toBe(503)
  expect(await scene.effects('killed')).toBe(1)
})

it('leaves the key of a transaction that fell silent to the next request, after twice the lease', async () => {
  const { handler, begun, goOn } = held('silent')
  const first = handler(post('silent'))
  await begun
  const startedAt = Date.now()
  const second = takeOver('silent')
  let answer = await second(post('silent'))
  while (answer.status === 409) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    answer = await second(post('silent'))
  }
  expect(await seen(answer)).toEqual([201, { by: 'the second' }, null])
  expect(Date.now() - startedAt).toBeLessThan(10 * LEASE_MS)
  goOn()
  expect((await first).status).toBe(503)
  expect(await scene.effects('silent')).toBe(1)
})
