import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type IdempotencyContext, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { post, shopLedger } from '../../support/atomic-cases.ts'
import { ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'
import { foreignPool, type Trace, traced } from '../../support/traced-pool.ts'

const scene = ledgerScene()

/** One answer with a secret in its body and one in its headers, in each way that an answer is recorded. */
interface Secrets {
  readonly body: string
  readonly header: string
}

type Context = IdempotencyContext<PgTransaction>
type Handle = (context: Context, answer: (status: number) => ReturnType<typeof json>, pool: pg.Pool) => Promise<unknown>

const charge = (tx: PgTransaction) => tx.query('INSERT INTO charges (name) VALUES ($1)', ['x'])

const WAYS: Readonly<Record<string, Handle>> = {
  'an effect': ({ effect }, answer) => effect((tx) => charge(tx).then(() => answer(201))),
  'an effect with a refusal': ({ effect }, answer) => effect((tx) => charge(tx).then(() => answer(402))),
  'an effect in a transaction of the caller': async ({ effect }, answer, pool) => {
    const client = await pool.connect()
    await client.query('BEGIN')
    const reply = await effect(() => answer(201), { transaction: client })
    await client.query('COMMIT')
    client.release()
    return reply
  },
  'an answer without an effect': async (_, answer) => answer(201),
  // The server logs a statement that fails.
  'an effect that swallowed a failure': ({ effect }, answer) =>
    effect(async (tx) => {
      await tx.query('SELECT 1 / 0').catch(() => {})
      return answer(201)
    }),
}

/** In any spelling that a statement could have. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString('hex'), bytes.toString('base64').slice(0, -4)]
}

/** What the server was sent as the text of a statement: that is what it shows, and what it logs. */
async function statements(trace: Trace): Promise<string> {
  const shown = await scene.query<{ query: string }>('SELECT query FROM pg_stat_activity WHERE application_name = $1', [
    scene.schema,
  ])
  expect(shown.length).toBeGreaterThan(0)
  return [...trace.texts, ...shown.map(({ query }) => query)].join('\n')
}

function openPool() {
  const pool = scene.pool()
  return { pool, trace: traced(pool) }
}

function ask(key: string): Request {
  return new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } })
}

async function expectUnseen(trace: Trace, secrets: Secrets): Promise<void> {
  const text = await statements(trace)
  for (const secret of [...spellings(secrets.body), ...spellings(secrets.header)]) expect(text).not.toContain(secret)
}

const newSecrets = (): Secrets => ({ body: `body ${randomUUID()}`, header: `header ${randomUUID()}` })

describe('what is in an answer is in no statement that the server shows or logs', () => {
  it.each(Object.entries(WAYS))('after %s', async (_, handle) => {
    const secrets = newSecrets()
    const { pool, trace } = openPool()
    const ledger = shopLedger<PgTransaction>({
      store: postgresLedger({ pool, schema: scene.schema }) as never,
      scope: 'public',
    })
    const reply = (status: number) =>
      json({ secret: secrets.body }, { status, headers: { 'x-receipt': secrets.header } })
    const handler = ledger.protect((_request, context) => handle(context as Context, reply, pool) as never)
    const key = randomUUID()
    await Promise.resolve(handler(ask(key))).catch(() => {})
    await expectUnseen(trace, secrets)
    await Promise.resolve(handler(ask(key))).catch(() => {})
    await expectUnseen(trace, secrets)
  })

  it('after an atomic handler', async () => {
    const secrets = newSecrets()
    const { pool, trace } = openPool()
    const store = postgresLedger({ pool, schema: scene.schema }) as never
    for (const status of [201, 402]) {
      const handler = shopLedger<PgTransaction>({ store, scope: 'public' }).atomic(async (_request, tx) => {
        await charge(tx)
        return json({ secret: secrets.body }, { status, headers: { 'x-receipt': secrets.header } })
      })
      expect((await handler(post(`atomic-${status}`))).status).toBe(status)
      await expectUnseen(trace, secrets)
    }
  })

  it('after a message with a value', async () => {
    const secrets = newSecrets()
    const { pool, trace } = openPool()
    const ledger = shopLedger<PgTransaction>({
      store: postgresLedger({ pool, schema: scene.schema }) as never,
      scope: 'public',
    })
    const work = () => secrets
    for (let delivery = 0; delivery < 2; delivery++) {
      expect(await ledger.once('secret', work as never, { scope: 'queue' })).toMatchObject({ value: secrets })
      await expectUnseen(trace, secrets)
    }
  })

  it('nor with a driver that takes one statement at a time', async () => {
    const secrets = newSecrets()
    const texts: string[] = []
    const pool = foreignPool(scene.pool(), (text, send) => {
      texts.push(text)
      return send()
    })
    const store = postgresLedger({ pool, schema: scene.schema }) as never
    const handler = shopLedger<PgTransaction>({ store, scope: 'public' }).protect((_, { effect }) =>
      effect((tx) =>
        charge(tx as PgTransaction).then(() =>
          json({ secret: secrets.body }, { status: 201, headers: { 'x-receipt': secrets.header } }),
        ),
      ),
    )
    expect((await handler(ask(randomUUID()))).status).toBe(201)
    await expectUnseen({ texts, trips: 0, clear: () => {} }, secrets)
  })
})
