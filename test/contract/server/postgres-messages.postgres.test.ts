import { describe, expect, it } from 'vitest'
import type { Consumed } from '../../../src/server/entry/consumed.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import type { MessageDraft } from '../../../src/server/ledger/port.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { deferred, draft, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

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
