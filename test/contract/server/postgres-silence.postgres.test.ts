import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import type { FoundEntry } from '../../../src/server/ledger/port.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import type { PgLedger, PgTransaction } from '../../support/postgres-ledger.ts'
import { claimed, draft, effect, found, heldWork, keep, ledgerScene } from '../../support/postgres-ledger.ts'
import { SilentProxy } from '../../support/silent-proxy.ts'

const scene = ledgerScene()

// Long enough that a busy machine renews it in time.
const LEASE_MS = 600

/** Under a claim with a short lease, as `createLedger({ lease })` would ask for it. */
async function silent(ledger: PgLedger, end?: (tx: PgTransaction) => Promise<ReturnType<typeof keep>>) {
  const claim = await claimed(ledger, { leaseMs: LEASE_MS })
  const held = heldWork(end)
  const running = effect(ledger, claim, { work: held.work, leaseMs: LEASE_MS })
  running.catch(() => {})
  await held.begun
  return { claim, running, ...held }
}

function isLapsed({ entry, now }: FoundEntry): boolean {
  return entry.leaseUntil <= now
}

async function freed(ledger: PgLedger, claim: { readonly scope: string; readonly key: string }): Promise<number> {
  const startedAt = Date.now()
  while ((await found(ledger, claim)).owner === 'alive') await new Promise((resolve) => setTimeout(resolve, 20))
  return Date.now() - startedAt
}

describe('a transaction whose connection is silent for twice the lease', () => {
  it('is ended by the server, and leaves the key to the next one', async () => {
    const [ledger, other] = [scene.ledger(), scene.ledger()]
    const { claim, running, goOn } = await silent(ledger)
    expect(await freed(other, claim)).toBeLessThan(10 * LEASE_MS)
    // Its process has heard of it, and holds the claim for one more lease.
    await running.catch(() => {})
    await expect.poll(async () => isLapsed(await found(other, claim))).toBe(true)
    const left = await found(other, claim)
    expect(left).toMatchObject({ owner: 'unsure', entry: { state: 'running' } })
    const next = await other.takeOver(left.entry, draft({ key: claim.key }))
    expect(next && (await effect(other, next))).toBe('recorded')
    goOn()
    await expect(running).rejects.toThrow(StorageError)
    await expect(running).rejects.toThrow(/no statement for 1200ms.*`lease`/)
    expect(await scene.effects(claim.key)).toBe(1)
  })

  it('tells the work what happened, where that goes on', async () => {
    const ledger = scene.ledger()
    const { claim, running, goOn } = await silent(ledger, async (tx) => {
      await tx.query('SELECT 1')
      return keep()
    })
    await freed(ledger, claim)
    goOn()
    await expect(running).rejects.toThrow(/no statement for 1200ms/)
    await expect(running).rejects.toMatchObject({ cause: expect.objectContaining({ code: '25P03' }) })
    expect(await scene.effects(claim.key)).toBe(0)
  })

  it('is not one that works for longer', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: LEASE_MS })
    const work = async (tx: PgTransaction) => {
      for (let round = 0; round < 6; round++) await tx.query('SELECT pg_sleep(0.25)')
      return keep()
    }
    expect(await effect(ledger, claim, { work, leaseMs: LEASE_MS })).toBe('recorded')
  })

  it('names the limit that was in force: that of the role, if it is shorter', async () => {
    const pool = scene.pool({ options: `-c search_path=${scene.schema} -c idle_in_transaction_session_timeout=20ms` })
    const ledger = postgresLedger({ pool, schema: scene.schema }) as PgLedger
    // Until the server has ended the transaction, and so the connection.
    const idle = (tx: PgTransaction) => new Promise<never>((_, reject) => tx.on('error', reject))
    const consumption = { work: idle, options: {} }
    const message = { scope: 'queue', id: randomUUID(), retentionMs: 1000_000, leaseMs: 5000, now: 0 }
    const atomic = { draft: draft({ leaseMs: 5000 }), mayReplace: () => false, options: {}, work: idle }
    for (const run of [
      async () => effect(ledger, await claimed(ledger), { work: idle, leaseMs: 5000 }),
      () => ledger.consume(message, consumption),
      () => ledger.atomic(atomic),
    ]) {
      await expect(run()).rejects.toThrow(/no statement for 20ms/)
    }
  })

  it('keeps to a shorter time that the database has, and leaves the connection as it was', async () => {
    const shorter = '-c idle_in_transaction_session_timeout=123'
    for (const [options, inside, outside] of [
      [shorter, '123ms', '123ms'],
      ['-c idle_in_transaction_session_timeout=1d', '1200ms', '1d'],
      ['-c idle_in_transaction_session_timeout=0', '1200ms', '0'],
    ]) {
      const seen: unknown[] = []
      const pool = scene.pool({ options: `-c search_path=${scene.schema} ${options}`, max: 1 })
      const show = async (tx: Pick<PgTransaction, 'query'>): Promise<void> => {
        const { rows } = await tx.query('SHOW idle_in_transaction_session_timeout')
        seen.push(rows[0].idle_in_transaction_session_timeout)
      }
      const ledger = postgresLedger({ pool, schema: scene.schema }) as PgLedger
      const claim = await claimed(ledger)
      const work = async (tx: PgTransaction) => {
        await show(tx)
        return keep()
      }
      await effect(ledger, claim, { work, leaseMs: LEASE_MS })
      await show(pool)
      expect(seen).toEqual([inside, outside])
    }
  })
})

describe('a transaction whose connection is half-open', () => {
  it.each(['broken', 'resumed'] as const)(
    'is ended by the server, and its late COMMIT does nothing: %s',
    async (end) => {
      const proxy = new SilentProxy(new URL(scene.url))
      const cutOff = new URL(scene.url)
      cutOff.host = `127.0.0.1:${await proxy.start()}`
      const [ledger, other] = [scene.ledger({ connectionString: cutOff.href, query_timeout: 500 }), scene.ledger()]
      const { claim, running, goOn } = await silent(ledger)
      const { hit, over } = proxy.silence({ ms: 10 * LEASE_MS, of: 'all', end })
      goOn()
      expect(await hit).toBe(true)
      expect(await freed(other, claim)).toBeLessThan(10 * LEASE_MS)
      const left = await found(other, claim)
      const next = await other.takeOver(left.entry, draft({ key: claim.key }))
      expect(next && (await effect(other, next))).toBe('recorded')
      expect(await running).toBe('in-doubt')
      await over
      expect((await found(other, claim)).entry).toMatchObject({ state: 'done', token: next?.token })
      expect(await scene.effects(claim.key)).toBe(1)
      proxy.stop()
    },
  )
})

describe('a COMMIT that the network swallows', () => {
  it('is given up by the ledger itself, though the application has no time limit for its statements', async () => {
    const proxy = new SilentProxy(new URL(scene.url))
    const cutOff = new URL(scene.url)
    cutOff.host = `127.0.0.1:${await proxy.start()}`
    const pool = scene.pool({ connectionString: cutOff.href, max: 1 })
    const store = postgresLedger({ pool, schema: scene.schema })
    const ledger = createLedger({ store, scope: 'public' })
    const handler = ledger.protect((_, { effect: run }) =>
      run(async (tx) => {
        await tx.query('SELECT 1')
        proxy.silence({ ms: 120_000, of: 'all', end: 'broken' })
        return json({}, { status: 201 })
      }),
    )
    const ask = new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'swallowed' } })
    expect((await handler(ask)).status).toBe(503)
    // Its connection is given back: it is not in the pool any more.
    expect(pool.totalCount).toBe(0)
    proxy.stop()
  })
})

describe('a message whose connection is silent for twice the lease', () => {
  it('is left to the next delivery', async () => {
    const [one, other] = [scene.ledger(), scene.ledger()].map((store) =>
      createLedger({ store, scope: 'public', lease: LEASE_MS }),
    )
    const { work, begun, goOn } = heldWork()
    const first = one?.once('message', (tx) => work(tx), { scope: 'queue' })
    first?.catch(() => {})
    await begun
    const startedAt = Date.now()
    expect(await other?.once('message', () => 'done', { scope: 'queue' })).toEqual({ duplicate: false, value: 'done' })
    expect(Date.now() - startedAt).toBeLessThan(10 * LEASE_MS)
    goOn()
    await expect(first).rejects.toThrow(/no statement for 1200ms/)
  })
})

describe('a request', () => {
  it('whose transaction was silent for too long gets its error, and its key is free', async () => {
    const events: unknown[] = []
    const ledger = createLedger({
      store: scene.ledger(),
      scope: 'public',
      lease: LEASE_MS,
      observe: (event) => 'error' in event && events.push((event.error as Error).message),
    })
    let slow = true
    const handler = ledger.protect((_, { effect }) =>
      effect(async (tx) => {
        await tx.query('INSERT INTO charges (name) VALUES ($1)', ['slow'])
        if (slow) await new Promise((resolve) => setTimeout(resolve, 4 * LEASE_MS))
        return json({ ok: true }, { status: 201 })
      }),
    )
    const ask = () => new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'slow' } })
    const refused = await handler(ask())
    expect(refused.status).toBe(503)
    expect(events).toContainEqual(expect.stringMatching(/no statement for 1200ms/))
    slow = false
    expect((await handler(ask())).status).toBe(201)
    expect(await scene.effects('slow')).toBe(1)
  })
})
