import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLedger, json } from '../../../src/server/index.ts'
import type { Consumed, TransactOptions } from '../../../src/server/ledger/port.ts'
import { claimed, effect, found, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

/** What a helper from before may do with the client that it is given. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  'BEGIN and ROLLBACK': ['BEGIN', 'ROLLBACK'],
  COMMIT: ['COMMIT'],
  'COMMIT, and a transaction of its own': ['COMMIT', 'BEGIN'],
}

const RESULTS: Readonly<Record<string, () => string | null>> = {
  'no value': () => null,
  'a value': () => '{"done":true}',
  'a throw': () => {
    throw new Error('broken')
  },
}

const CASES = Object.entries(ENDS).flatMap(([name, texts]) =>
  Object.entries(RESULTS).map(([result, end]) => ({ name, texts, result, end })),
)

const ENDED = { name: 'EndedTransactionError', effect: 'unknown' }

async function charge(tx: PgTransaction, id: string): Promise<void> {
  await tx.query('INSERT INTO charges (name) VALUES ($1)', [id])
}

describe('the work of a message that ends its transaction itself', () => {
  const message = (id: string) => ({ scope: 'queue', id, retentionMs: 1000_000, now: 0 })

  it.each(CASES)('by $name, with $result, is not done: an error says so', async ({ texts, end }) => {
    const ledger = scene.ledger()
    const id = randomUUID()
    const work = async (tx: PgTransaction) => {
      await charge(tx, id)
      for (const text of texts) await tx.query(text)
      return end()
    }
    await expect(ledger.consume(message(id), { work, options: {} })).rejects.toMatchObject(ENDED)
    // Its row is committed with the work, or neither is there.
    const rows = await scene.query('SELECT FROM holdfast_messages WHERE id = $1', [id])
    expect(rows).toHaveLength(await scene.effects(id))
  })

  it.each(CASES)('by $name, with $result, in a transaction of the caller: the same', async ({ texts, end }) => {
    const ledger = scene.ledger()
    const id = randomUUID()
    const client = await scene.pool().connect()
    await client.query('BEGIN')
    const options: TransactOptions<PgTransaction> = { transaction: client }
    const work = async () => {
      await charge(client, id)
      for (const text of texts) await client.query(text)
      return end()
    }
    await expect(ledger.consume(message(id), { work, options })).rejects.toMatchObject(ENDED)
    await client.query('ROLLBACK')
    client.release()
    const rows = await scene.query('SELECT FROM holdfast_messages WHERE id = $1', [id])
    expect(rows).toHaveLength(await scene.effects(id))
  })

  it('never says of three deliveries that each was the first', async () => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const id = randomUUID()
    const deliver = (): Promise<unknown> =>
      ledger.once(
        id,
        async (tx) => {
          await tx.query('BEGIN')
          await tx.query('ROLLBACK')
          await charge(tx, id)
        },
        { scope: 'queue' },
      )
    const ends = []
    for (let round = 0; round < 3; round++) ends.push(await deliver().catch((error: Error) => error.name))
    expect(ends).toEqual(Array(3).fill('EndedTransactionError'))
  })

  it('is not an error of work that only rolls back to a savepoint', async () => {
    const ledger = scene.ledger()
    const id = randomUUID()
    const work = async (tx: PgTransaction) => {
      await charge(tx, id)
      await tx.query('SAVEPOINT mine')
      await tx.query('SELECT 1 / 0').catch(() => {})
      await tx.query('ROLLBACK TO SAVEPOINT mine')
      return null
    }
    const consumed: Consumed = await ledger.consume(message(id), { work, options: {} })
    expect([consumed, await scene.effects(id)]).toEqual([{ duplicate: false, value: null }, 1])
  })
})

describe('an effect in a transaction of the caller that ends it and throws', () => {
  it.each(['COMMIT', 'ROLLBACK'])('by %s is unknown', async (how) => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await scene.pool().connect()
    await client.query('BEGIN')
    const work = async () => {
      await client.query(how)
      throw new Error('broken')
    }
    const ended = effect(ledger, claim, { work, options: { transaction: client } })
    await expect(ended).rejects.toMatchObject(ENDED)
    client.release()
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'unknown', answer: null })
  })
})

describe('a request whose work ends its transaction itself', () => {
  it.each([{}, { external: true }])('is not run again, whatever its handler was declared as: %o', async (options) => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const key = randomUUID()
    const handler = ledger.protect(
      (_, context) =>
        context.effect(async (tx) => {
          await charge(tx, key)
          await tx.query('COMMIT')
          return json({}, { status: 201 })
        }),
      options,
    )
    const ask = async () =>
      handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } }))
    await expect(ask()).rejects.toMatchObject(ENDED)
    for (let retry = 0; retry < 3; retry++) expect((await ask()).status).toBe(409)
    expect(await scene.effects(key)).toBe(1)
    expect((await ledger.find('public', key))?.state).toBe('unknown')
  })
})
