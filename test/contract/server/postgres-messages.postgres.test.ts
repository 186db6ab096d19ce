import { describe, expect, it } from 'vitest'
import type { Consumed } from '../../../src/server/entry/consumed.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import type { MessageDraft, TransactOptions } from '../../../src/server/ledger/port.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { deferred, draft, ledgerScene, type PgLedger, type PgTransaction } from '../../support/postgres-ledger.ts'
import { traced } from '../../support/traced-pool.ts'

const scene = ledgerScene()

describe.each(['read committed', 'repeatable read', 'serializable'] as const)('a message, %s', (isolation) => {
  const message = (): MessageDraft => ({ scope: 's', id: draft().key, retentionMs: 1000_000, now: 0 })

  async function twoAtOnce(ledger: PgLedger, first: string | Error): Promise<PromiseSettledResult<Consumed>[]> {
    const started = deferred<void>()
    const goOn = deferred<void>()
    const one = message()
    const slow = async () => {
      started.resolve()
      await goOn.promise
      if (first instanceof Error) throw first
      return first
    }
    const results = [ledger.consume(one, { work: slow, options: { isolation } })]
    await started.promise
    results.push(ledger.consume(one, { work: () => 'second', options: { isolation } }))
    await scene.query('SELECT pg_sleep(0.1)')
    goOn.resolve()
    return Promise.allSettled(results)
  }

  it('is done once: a duplicate that comes meanwhile waits, and gets the value', async () => {
    const [first, second] = await twoAtOnce(scene.ledger(), 'first')
    expect(first).toMatchObject({ value: { duplicate: false, value: 'first' } })
    expect(second).toMatchObject({ value: { duplicate: true, value: 'first' } })
  })

  it('is done by the duplicate where the first one fails', async () => {
    const error = new Error('no')
    const [first, second] = await twoAtOnce(scene.ledger(), error)
    expect(first).toMatchObject({ reason: error })
    expect(second).toMatchObject({ value: { duplicate: false, value: 'second' } })
  })
})

describe('a slow message and its redeliveries', () => {
  it('hold one connection, and leave the others to requests', async () => {
    const pool = scene.pool({ max: 3 })
    const ledger = createLedger({ store: postgresLedger({ pool, schema: scene.schema }), scope: 'public' })
    const handler = ledger.protect((_, { effect, key }) =>
      effect(async (tx) => {
        await tx.query('INSERT INTO charges (name) VALUES ($1)', [key])
        return json({}, { status: 201 })
      }),
    )
    const [started, goOn] = [deferred<void>(), deferred<void>()]
    const id = draft().key
    const work = async () => {
      started.resolve()
      await goOn.promise
      return 'done'
    }
    const first = ledger.once(id, work, { scope: 'queue' })
    await started.promise
    const again = [1, 2].map(() => ledger.once(id, work, { scope: 'queue' }))
    // Longer than a redelivery waits for a transaction that is about to commit.
    await scene.query('SELECT pg_sleep(0.3)')
    for (let round = 0; round < 10; round++) {
      const key = draft().key
      const asked = handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } }))
      expect([(await asked).status, await scene.effects(key)]).toEqual([201, 1])
    }
    goOn.resolve()
    expect(await first).toEqual({ duplicate: false, value: 'done' })
    for (const duplicate of again) expect(await duplicate).toEqual({ duplicate: true, value: 'done' })
  })
})

describe('a message whose COMMIT fails', () => {
  it.each<{ how: string; kind: string; options: TransactOptions<PgTransaction>; code: string }>([
    { how: 'by a constraint that is checked last', kind: 'unique', options: {}, code: '23505' },
    { how: 'by a conflict', kind: 'conflict', options: { isolation: 'serializable' }, code: '40001' },
  ])('$how is not held: the next delivery does it', async ({ kind, options, code }) => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const table = `late_${kind}_${draft().key.slice(0, 8)}`
    await scene.query(
      `CREATE TABLE ${table} (n integer UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO ${table} VALUES (1)`,
    )
    let isFirst = true
    const work = async (tx: PgTransaction): Promise<void> => {
      const isFailing = isFirst
      isFirst = false
      await tx.query(`SELECT sum(n) FROM ${table}`)
      if (isFailing && kind === 'conflict') {
        const other = await scene.pool().connect()
        await other.query(
          `BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(n) FROM ${table}; INSERT INTO ${table} VALUES (5); COMMIT`,
        )
        other.release()
      }
      await tx.query(`INSERT INTO ${table} VALUES (${isFailing && kind === 'unique' ? 1 : 2})`)
    }
    const deliver = () => ledger.once(table, work as never, { scope: 'queue', ...(options as object) })
    // At the COMMIT, or at the statement before it.
    await expect(deliver()).rejects.toSatisfy((error) => [error.code, error.cause?.code].includes(code))
    expect(await deliver()).toMatchObject({ duplicate: false })
    expect(await deliver()).toMatchObject({ duplicate: true })
  })
})

describe('many deliveries of one message in flight', () => {
  it('let one of them look again, and leave the pool to the application', async () => {
    const pool = scene.pool({ max: 3 })
    const statements = traced(pool)
    const ledger = createLedger({ store: postgresLedger({ pool, schema: scene.schema }), scope: 'public' })
    const gate = deferred<void>()
    const begun = deferred<void>()
    const slow = () => {
      begun.resolve()
      return gate.promise
    }
    const first = ledger.once('crowded', slow, { scope: 'queue' })
    await begun.promise
    const others = Array.from({ length: 30 }, () => ledger.once('crowded', () => 'again', { scope: 'queue' }))
    const looks = (): number => statements.texts.filter((text) => text.includes('_consume_v2')).length
    await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(30)
    const before = looks()
    await new Promise((resolve) => setTimeout(resolve, 1200))
    // One of them looks, each half second; each on its own would be sixty looks.
    expect(looks() - before).toBeLessThan(10)
    gate.resolve()
    await first
    expect((await Promise.all(others)).every(({ duplicate }) => duplicate)).toBe(true)
  })
})
