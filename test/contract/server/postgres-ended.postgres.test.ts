import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Consumed } from '../../../src/server/entry/consumed.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import type { TransactOptions } from '../../../src/server/ledger/port.ts'
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
    expect(await scene.query('SELECT FROM holdfast_messages WHERE id = $1', [id])).toEqual([])
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
    expect(await scene.query('SELECT FROM holdfast_messages WHERE id = $1', [id])).toEqual([])
  })

  const HELD = { code: 'HOLDFAST_MESSAGE_HELD', effect: 'unknown' }

  const legacy: Readonly<Record<string, readonly string[]>> = {
    'BEGIN, ROLLBACK, and a write without a transaction': ['BEGIN', 'ROLLBACK'],
    'COMMIT, BEGIN, and a write that is rolled back': ['COMMIT', 'BEGIN'],
  }

  it.each(Object.entries(legacy))('by %s is held until an operator decides', async (_, texts) => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const id = randomUUID()
    let helper = async (tx: PgTransaction): Promise<void> => {
      for (const text of texts) await tx.query(text)
    }
    const deliver = () =>
      ledger.once(id, async (tx) => helper(tx as PgTransaction).then(() => charge(tx as PgTransaction, id)), {
        scope: 'queue',
      })
    await expect(deliver()).rejects.toMatchObject(ENDED)
    const effects = await scene.effects(id)
    for (let round = 0; round < 2; round++) await expect(deliver()).rejects.toMatchObject(HELD)
    expect(await scene.effects(id)).toBe(effects)
    const unknown = []
    for await (const { key } of ledger.entries({ state: 'unknown', scope: 'queue' })) unknown.push(key)
    expect(unknown).toContain(`message:${id}`)
    helper = async () => {}
    expect(await ledger.resolve('queue', `message:${id}`, 'rerun')).toBe(true)
    expect(await deliver()).toMatchObject({ duplicate: false })
    expect(await deliver()).toMatchObject({ duplicate: true })
    expect(await scene.effects(id)).toBe(effects + 1)
  })

  it('is a duplicate once an operator says that it was done', async () => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const id = randomUUID()
    const deliver = () => ledger.once(id, async (tx) => void (await tx.query('COMMIT')), { scope: 'queue' })
    await expect(deliver()).rejects.toMatchObject(ENDED)
    expect(await ledger.resolve('queue', `message:${id}`, json({}))).toBe(true)
    expect(await deliver()).toEqual({ duplicate: true, value: undefined })
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

describe('an atomic request whose work ends its transaction itself', () => {
  it.each(Object.entries(ENDS))('by %s is not run again', async (_, texts) => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const key = randomUUID()
    let runs = 0
    const handler = ledger.atomic(async (_request, tx) => {
      runs++
      await charge(tx as PgTransaction, key)
      for (const text of texts) await tx.query(text)
      return json({}, { status: 201 })
    })
    const ask = () => handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } }))
    await expect(ask()).rejects.toMatchObject(ENDED)
    for (let retry = 0; retry < 3; retry++) expect((await ask()).status).toBe(409)
    expect([runs, (await ledger.find('public', key))?.state]).toEqual([1, 'unknown'])
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
