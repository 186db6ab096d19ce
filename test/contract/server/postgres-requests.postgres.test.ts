import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createLedger } from '../../../src/server/create-ledger.ts'
import { json } from '../../../src/server/entry/reply.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { deferred, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

type More = (tx: PgTransaction, attempt: number) => unknown

/** One replica of a shop: charges once per key, and does more in between where that is asked. */
function shop(more: More = () => {}, given: { pool?: pg.PoolConfig; wait?: boolean } = {}) {
  const store = postgresLedger({ pool: scene.pool(given.pool), schema: scene.schema })
  const inFlight = given.wait ? 'wait' : 'reject'
  const ledger = createLedger({ store, scope: 'public', inFlight, waitFor: '20s' })
  return ledger.protect(async (request, { effect, attempt }) => {
    const { name } = (await request.json()) as { name: string }
    return effect(async (tx) => {
      await tx.query('INSERT INTO charges (name) VALUES ($1)', [name])
      await more(tx, attempt)
      return json({ name }, { status: 201 })
    })
  })
}

function request(key: string, body: unknown = { name: key }): Request {
  const headers = { 'idempotency-key': key, 'content-type': 'application/json' }
  return new Request('http://shop.test/charges', { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Stays in its effect until told to go on; tells its backend. */
function stalled() {
  const begun = deferred<number>()
  const goOn = deferred<void>()
  const more: More = async (tx) => {
    begun.resolve((await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0)
    await goOn.promise
  }
  return { more, begun: begun.promise, goOn: () => goOn.resolve() }
}

describe('requests with one key', () => {
  it('have one effect, also when 50 come at once to two replicas', async () => {
    const replicas = [shop(), shop()]
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => replicas[index % 2]?.(request(key))))
    const statuses = answers.map((answer) => answer?.status)
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
    const fresh = answers.filter((answer) => answer?.status === 201 && !answer.headers.has('idempotency-replayed'))
    expect(fresh).toHaveLength(1)
    expect(await scene.effects(key)).toBe(1)
    const replay = await replicas[0]?.(request(key))
    expect([replay?.status, await replay?.text()]).toEqual([201, JSON.stringify({ name: key })])
  })

  it('cost few statements while they wait for another replica', async () => {
    const { more, begun, goOn } = stalled()
    const key = randomUUID()
    const first = shop(more)(request(key))
    await begun
    const pool = scene.pool()
    let statements = 0
    const counting: Pick<pg.Pool, 'query' | 'connect' | 'end'> = Object.create(pool, {
      query: {
        value: (...given: Parameters<pg.Pool['query']>) => {
          statements++
          return pool.query(...given)
        },
      },
    })
    const store = postgresLedger({ pool: counting as pg.Pool, schema: scene.schema })
    await store.stats(0)
    statements = 0
    const ledger = createLedger({ store, scope: 'public', inFlight: 'wait', waitFor: '2s' })
    const handler = ledger.protect(() => new Response())
    const waiting = await Promise.all(Array.from({ length: 5 }, () => handler(request(key))))
    expect(waiting.map(({ status }) => status)).toEqual(Array(5).fill(409))
    // Two for the first look of each, and two for each of about seven looks that they share.
    expect(statements).toBeLessThanOrEqual(2 * 5 + 2 * 8)
    goOn()
    expect((await first).status).toBe(201)
  })

  it('all get the answer where they may wait for it', async () => {
    const replicas = [shop(undefined, { wait: true }), shop(undefined, { wait: true })]
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => replicas[index % 2]?.(request(key))))
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201]))
    expect(await scene.effects(key)).toBe(1)
  })

  it('have one effect where the first one rolls back while others wait', async () => {
    const { more, begun, goOn } = stalled()
    const key = randomUUID()
    const first = shop(async (tx, attempt) => {
      await more(tx, attempt)
      throw new Error('out of stock')
    })
    const others = shop(undefined, { wait: true })
    const failing = Promise.resolve(first(request(key))).catch((error: unknown) => error)
    await begun
    const waiting = Array.from({ length: 10 }, () => others(request(key)))
    goOn()
    expect(await failing).toBeInstanceOf(Error)
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect(answers.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
    expect(await scene.effects(key)).toBe(1)
  })

  it('are refused at once while the first one works, and another body before that', async () => {
    const { more, begun, goOn } = stalled()
    const [first, other] = [shop(more), shop()]
    const key = randomUUID()
    const running = first(request(key))
    await begun
    expect((await other(request(key))).status).toBe(409)
    expect((await other(request(key, { name: 'other' }))).status).toBe(422)
    goOn()
    expect((await running).status).toBe(201)
    expect((await other(request(key))).headers.get('idempotency-replayed')).toBe('true')
  })

  it('are taken over at once where the backend of the first one was killed', async () => {
    const { more, begun, goOn } = stalled()
    const [first, other] = [shop(more), shop()]
    const key = randomUUID()
    const dying = Promise.resolve(first(request(key))).catch(() => undefined)
    await scene.terminate(await begun)
    const next = await other(request(key))
    expect([next.status, next.headers.has('idempotency-replayed')]).toEqual([201, false])
    goOn()
    expect((await dying)?.status).not.toBe(201)
    expect(await scene.effects(key)).toBe(1)
  })

  it('find their way through a pool of one connection', async () => {
    const replica = shop(undefined, { pool: { max: 1, connectionTimeoutMillis: 20_000 }, wait: true })
    const keys = Array.from({ length: 5 }, () => randomUUID())
    const answers = await Promise.all([...keys, ...keys].map((key) => replica(request(key))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    for (const key of keys) expect(await scene.effects(key)).toBe(1)
  })

  it('are told that the ledger is not available where it is not, and have no effect', async () => {
    const options = `-c search_path=${scene.schema} -c default_transaction_read_only=on`
    const key = randomUUID()
    expect((await shop(undefined, { pool: { options } })(request(key))).status).toBe(503)
    expect(await scene.effects(key)).toBe(0)
  })
})
