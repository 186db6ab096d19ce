import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkOutcome } from '../../../src/server/entry/outcome.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { answer, claimed, effect, found, keep, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()
const tenant = `${scene.schema}_tenant`
const service = `${scene.schema}_service`

/** `tenant` sees charges of its own only, and nothing of the ledger. `service` may use the ledger too. */
beforeAll(async () => {
  await scene.ledger().find('s', 'k')
  await scene.query(`CREATE ROLE ${tenant} NOLOGIN; CREATE ROLE ${service} NOLOGIN;
    GRANT USAGE ON SCHEMA ${scene.schema} TO ${tenant}, ${service};
    GRANT ALL ON charges TO ${tenant}; GRANT ALL ON ALL TABLES IN SCHEMA ${scene.schema} TO ${service};
    GRANT ${tenant} TO ${service};
    ALTER TABLE charges ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON charges TO ${tenant} USING (true) WITH CHECK (amount < 10)`)
})

afterAll(async () => {
  await scene.query(`DROP OWNED BY ${tenant}, ${service}; DROP ROLE ${tenant}, ${service}`)
})

const userOf = async (tx: Pick<PgTransaction, 'query'>): Promise<string> =>
  (await tx.query('SELECT current_user')).rows[0].current_user

const asTenant =
  (verdict: WorkOutcome = keep(), amount = 1) =>
  async (tx: PgTransaction): Promise<WorkOutcome> => {
    await tx.query(`SET LOCAL ROLE ${tenant}`)
    await tx.query('INSERT INTO charges (name, amount) VALUES ($1, $2)', ['of the tenant', amount])
    await expect(tx.query('SAVEPOINT s; SELECT FROM holdfast_entries')).rejects.toMatchObject({ code: '42501' })
    await tx.query('ROLLBACK TO SAVEPOINT s')
    return verdict
  }

describe('an effect that takes another role for its work', () => {
  it('is recorded, and the connection has its own role again', async () => {
    const pool = scene.pool({ max: 1 })
    const { postgresLedger } = await import('../../../src/server/postgres/index.ts')
    const ledger = postgresLedger({ pool, schema: scene.schema })
    const own = await userOf(pool)
    const claim = await claimed(ledger as never)
    expect(await effect(ledger as never, claim, { work: asTenant() })).toBe('recorded')
    expect((await found(ledger as never, claim)).entry).toMatchObject({ state: 'done', answer: answer('charged') })
    expect(await userOf(pool)).toBe(own)
  })

  it.each<[string, WorkOutcome, string]>([
    ['a refusal', { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 402 }) }, 'recorded'],
    ['an answer for now', { kind: 'released' }, 'released'],
  ])('may end with %s', async (_name, verdict, ended) => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim, { work: asTenant(verdict) })).toBe(ended)
    expect(await effect(ledger, null, { work: asTenant(verdict) })).toBe(ended)
  })

  it('keeps its claim if a policy refuses its row', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    await expect(effect(ledger, claim, { work: asTenant(keep(), 10) })).rejects.toMatchObject({ code: '42501' })
    expect(await ledger.find(claim.scope, claim.key)).toMatchObject({ state: 'running', inEffect: false })
    expect(await ledger.release(claim)).toBe(true)
  })

  it('goes back to the role that its connection had, not to that of its log-in', async () => {
    const ledger = scene.ledger({ options: `-c search_path=${scene.schema} -c role=${service}` })
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim, { work: asTenant() })).toBe('recorded')
  })

  it('may do so in a transaction that the caller has begun, which then has its role again', async () => {
    const ledger = scene.ledger()
    const client = await scene.pool().connect()
    const claim = await claimed(ledger)
    await client.query(`BEGIN; SET LOCAL ROLE ${service}`)
    expect(await effect(ledger, claim, { work: asTenant(), options: { transaction: client } })).toBe('uncommitted')
    expect(await userOf(client)).toBe(service)
    await client.query('COMMIT')
    client.release()
    expect((await found(ledger, claim)).entry.state).toBe('done')
  })

  it('answers its request', async () => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const handler = ledger.protect((_, { effect: run }) =>
      run(async (tx) => {
        await asTenant()(tx)
        return json({ ok: true }, { status: 201 })
      }),
    )
    const ask = () => new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'role' } })
    expect((await handler(ask())).status).toBe(201)
    expect((await handler(ask())).headers.get('idempotency-replayed')).toBe('true')
  })

  it('may do so for a message', async () => {
    const ledger = createLedger({ store: scene.ledger(), scope: 'public' })
    const work = async (tx: PgTransaction) => {
      await asTenant()(tx)
      return { text: "it's \\ done" }
    }
    const first = await ledger.once('m', work, { scope: 'queue' })
    expect(await ledger.once('m', work, { scope: 'queue' })).toEqual({ duplicate: true, value: first.value })
  })
})
