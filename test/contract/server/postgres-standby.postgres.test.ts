import { beforeAll, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { answer, claimed, draft, effect, keep, type PgLedger } from '../../support/postgres-ledger.ts'
import { replicatedScene } from '../../support/standby.ts'

const scene = replicatedScene()

beforeAll(() => scene.query('CREATE TABLE charges (name text NOT NULL, amount integer NOT NULL DEFAULT 1)'))

/** On one connection of the application's that stays open. */
function ledgerOn(options = ''): PgLedger {
  return postgresLedger({ pool: scene.pool({ max: 1, options }), requireSynchronousStandby: true })
}

const NO_STANDBY = /has no synchronous standby: synchronous_standby_names is empty.*requireSynchronousStandby/
const UNREPLICATED = /committed without a synchronous standby/

async function atomic(ledger: PgLedger, key: string) {
  return ledger.atomic({
    draft: draft({ key }),
    mayReplace: () => false,
    options: {},
    work: async (tx) => {
      await tx.query('INSERT INTO charges (name) VALUES ($1)', [key])
      return keep()
    },
  })
}

const once = (ledger: PgLedger, id: string) =>
  ledger.consume({ scope: 's', id, retentionMs: 60_000, now: 0 }, { work: () => 'done', options: {} })

const charges = async (name: string): Promise<number> =>
  (await scene.query('SELECT FROM charges WHERE name = $1', [name])).length

describe('a ledger that requires a synchronous standby', () => {
  it('refuses a server that has none, says what to set, and is asked again', async () => {
    await scene.require('')
    const ledger = ledgerOn()
    await expect(claimed(ledger)).rejects.toThrow(StorageError)
    await expect(claimed(ledger)).rejects.toThrow(NO_STANDBY)
    await scene.require('ANY 1 (*)')
    await claimed(ledger)
    await ledger.close()
  })

  it('refuses a role that does not wait for it', async () => {
    await expect(claimed(ledgerOn('-c synchronous_commit=local'))).rejects.toThrow("synchronous_commit is 'local'")
    await expect(claimed(ledgerOn('-c synchronous_commit=off'))).rejects.toThrow("synchronous_commit is 'off'")
  })

  it('refuses all that commits as soon as the setting is emptied, on the connections that it has', async () => {
    const ledger = ledgerOn()
    const [done, kept, open] = [await claimed(ledger), await claimed(ledger), await claimed(ledger)]
    const external = await claimed(ledger, { external: true, durable: true })
    await atomic(ledger, 'before')
    await once(ledger, 'before')
    await scene.require('')
    await expect(claimed(ledger)).rejects.toThrow(NO_STANDBY)
    await expect(claimed(ledger, { external: true, durable: true })).rejects.toThrow(NO_STANDBY)
    await expect(ledger.complete(done, answer('done'), 0)).rejects.toThrow(NO_STANDBY)
    await expect(ledger.abandon(external, 0)).rejects.toThrow(NO_STANDBY)
    await expect(effect(ledger, kept)).rejects.toThrow(NO_STANDBY)
    await expect(effect(ledger, null)).rejects.toThrow(NO_STANDBY)
    const declined = { kind: 'recorded', writes: 'rolled-back', answer: answer('no', { status: 402 }) } as const
    await expect(effect(ledger, open, { work: () => declined })).rejects.toThrow(NO_STANDBY)
    await expect(atomic(ledger, 'new')).rejects.toThrow(NO_STANDBY)
    await expect(atomic(ledger, 'before')).rejects.toThrow(NO_STANDBY)
    await expect(once(ledger, 'new')).rejects.toThrow(NO_STANDBY)
    await expect(once(ledger, 'before')).rejects.toThrow(NO_STANDBY)
    expect(await charges(kept.key)).toBe(0)
    expect(await charges('no key')).toBe(0)
    expect(await charges('new')).toBe(0)
    expect(await ledger.renew(kept, { leaseMs: 1000, now: 0 })).toBe(true)
    await ledger.close()
  })

  it('refuses in the transaction of a caller, and leaves that as it was', async () => {
    const ledger = ledgerOn()
    const claim = await claimed(ledger)
    await scene.require('')
    const client = await scene.pool().connect()
    await client.query("BEGIN; INSERT INTO charges (name) VALUES ('mine')")
    await expect(effect(ledger, claim, { options: { transaction: client } })).rejects.toThrow(NO_STANDBY)
    const given = { work: () => 'done', options: { transaction: client } }
    const message = { scope: 's', id: 'given', retentionMs: 60_000, now: 0 }
    await expect(ledger.consume(message, given)).rejects.toThrow(NO_STANDBY)
    await client.query('COMMIT')
    client.release()
    expect([await charges('mine'), await charges(claim.key)]).toEqual([1, 0])
    await ledger.close()
  })

  it.each([
    ['errors only', '-c client_min_messages=error'],
    ['warnings', ''],
  ])('a commit whose wait was cancelled is in doubt, on a role that hears %s', async (_, options) => {
    const ledger = ledgerOn(options)
    const claim = await claimed(ledger)
    await scene.stopStandby()
    const kind = effect(ledger, claim)
    await scene.cancelWait()
    // Nor does a look at the entry prove more: what it waits for is cancelled too.
    await scene.cancelWait()
    expect(await kind).toBe('in-doubt')
    const consumed = once(ledger, `cancelled ${options}`)
    consumed.catch(() => {})
    await scene.cancelWait()
    await expect(consumed).rejects.toThrow(UNREPLICATED)
    await expect(consumed).rejects.toMatchObject({ effect: 'unknown' })
    const external = claimed(ledger, { external: true, durable: true })
    external.catch(() => {})
    await scene.cancelWait()
    await expect(external).rejects.toThrow(UNREPLICATED)
    await scene.startStandby()
    await ledger.close()
  })

  it('a commit that is let go of because the setting is emptied is in doubt', async () => {
    const ledger = ledgerOn()
    const claim = await claimed(ledger)
    await scene.stopStandby()
    const kind = effect(ledger, claim)
    await scene.waiting()
    await scene.require('')
    expect(await kind).toBe('in-doubt')
    await scene.startStandby()
    await ledger.close()
  })

  it('an answer is replayed only once it is on a standby, whoever recorded it', async () => {
    const store = ledgerOn()
    const ledger = createLedger({ store, scope: 'public' })
    const handler = ledger.protect((_, { effect }) => effect(() => json({ charged: true }, { status: 201 })))
    const atomically = ledger.atomic(() => json({ charged: true }, { status: 201 }))
    const ask = (key: string) =>
      new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } })
    for (const [key, handle] of [
      ['effect', handler],
      ['atomic', atomically],
    ] as const) {
      expect((await handle(ask(`${key}-before`))).status).toBe(201)
      await scene.stopStandby()
      const first = handle(ask(key))
      await scene.cancelWait()
      await scene.cancelWait()
      expect((await first).status).toBe(503)
      const second = handle(ask(key))
      await scene.cancelWait()
      expect((await second).status).toBe(503)
      await scene.startStandby()
      expect((await handle(ask(key))).status).toBe(201)
    }
    await ledger.close()
  })

  it('is an option that is true or false', () => {
    expect(() => postgresLedger({ pool: scene.pool(), requireSynchronousStandby: 1 as never })).toThrow(
      'The option `requireSynchronousStandby` of postgresLedger() is true or false',
    )
  })
})
