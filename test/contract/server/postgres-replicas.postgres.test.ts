import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createLedger, type IdempotencyContext, json, type LedgerEvent } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { cuttingProxy } from '../../support/cutting-proxy.ts'
import { deferred, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

const LEASE_MS = 1500

type Context = Pick<IdempotencyContext<PgTransaction>, 'effect' | 'signal' | 'attempt'>

/** One replica, with a pool of its own. */
function replica(pool: pg.Pool, work: (context: Context) => Promise<Response | unknown>, external = true) {
  const events: LedgerEvent['type'][] = []
  const ledger = createLedger({
    store: postgresLedger({ pool, schema: scene.schema }),
    scope: 'public',
    lease: LEASE_MS,
    observe: ({ type }) => events.push(type),
  })
  // Nobody outside knows of anything: what a dead replica has begun is run again.
  const reconcile = external ? () => 'rerun' as const : undefined
  const handler = ledger.protect((_, context) => work(context) as Promise<Response>, { external, reconcile })
  const ask = async (key: string) =>
    handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } }))
  return { ask, events, find: (key: string) => ledger.find('public', key) }
}

const CREATED = (by: string) => json({ by }, { status: 201 })

/** Asks until the key is no longer in flight. */
async function persistently(ask: () => Promise<Response>): Promise<Response> {
  let answer = await ask()
  for (let round = 0; answer.status === 409 && round < 1000; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    answer = await ask()
  }
  return answer
}

describe('a replica that is cut off from the database for longer than its lease', () => {
  it.each([true, false])('knows that by itself, and claims no success; external: %s', async (external) => {
    const proxy = await cuttingProxy(scene.url)
    const [begun, aborted] = [deferred<void>(), deferred<void>()]
    const charges: string[] = []
    let signal: AbortSignal | undefined
    const cutOff = replica(
      scene.pool({ connectionString: proxy.url }),
      async (context) => {
        signal = context.signal
        signal.addEventListener('abort', () => aborted.resolve())
        begun.resolve()
        await aborted.promise
        // As every handler should before it does something that can't be undone.
        if (!signal.aborted) charges.push('cut off')
        return CREATED('cut off')
      },
      external,
    )
    let wasAborted: boolean | undefined
    const other = replica(
      scene.pool(),
      async () => {
        wasAborted = signal?.aborted
        charges.push('other')
        return CREATED('other')
      },
      external,
    )
    const key = randomUUID()
    const first = cutOff.ask(key)
    await begun.promise
    proxy.setDown(true)
    const second = await persistently(() => other.ask(key))
    expect([second.status, await second.json()]).toEqual([201, { by: 'other' }])
    expect([wasAborted, charges]).toEqual([true, ['other']])
    const answer = await first
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false])
    expect(cutOff.events).toContain('claim.lost')
    proxy.setDown(false)
    expect(await (await cutOff.ask(key)).json()).toEqual({ by: 'other' })
    await proxy.close()
  })

  it('aborts at once if a throw inside of its effect leaves it without a claim', async () => {
    const proxy = await cuttingProxy(scene.url)
    let signal: AbortSignal | undefined
    const pool = scene.pool({ connectionString: proxy.url })
    const { ask } = replica(pool, async (context) => {
      signal = context.signal
      const work = () => {
        proxy.setDown(true)
        throw new Error('declined')
      }
      const failed = await context.effect(work).catch(() => signal?.aborted)
      return json({ failed }, { status: 402 })
    })
    const answer = await ask(randomUUID())
    expect([signal?.aborted, answer.status]).toEqual([true, 503])
    await proxy.close()
  })
})

describe("an application that needs all of its pool's connections for longer than a lease", () => {
  /** Takes every connection, and gives them back when `then` has ended. */
  async function exhaust(pool: pg.Pool, then: () => Promise<void>): Promise<void> {
    const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
    await then()
    for (const client of clients) client.release()
  }

  /** The statuses of duplicates that another replica gets for two leases. */
  async function duplicates(ask: () => Promise<Response>): Promise<ReadonlySet<number>> {
    const statuses = new Set<number>()
    const until = Date.now() + 2 * LEASE_MS
    while (Date.now() < until) {
      statuses.add((await ask()).status)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return statuses
  }

  it.each([true, false])('keeps its claim and records its answer; external: %s', async (external) => {
    const pool = scene.pool({ max: 2 })
    let runs = 0
    let isAborted: boolean | undefined
    const key = randomUUID()
    const other = replica(scene.pool(), async () => CREATED(`other ${++runs}`), external)
    const seen = { during: new Set<number>() as ReadonlySet<number> }
    const busy = replica(
      pool,
      async ({ signal }) => {
        runs++
        const held = deferred<void>()
        const answered = deferred<void>()
        void exhaust(pool, async () => {
          seen.during = await duplicates(() => other.ask(key))
          held.resolve()
          // Still while the answer is recorded.
          await answered.promise
        })
        await held.promise
        isAborted = signal.aborted
        setTimeout(answered.resolve, LEASE_MS / 2)
        return CREATED('busy')
      },
      external,
    )
    expect((await busy.ask(key)).status).toBe(201)
    expect([...seen.during]).toEqual([409])
    expect([runs, isAborted]).toEqual([1, false])
    expect(await (await other.ask(key)).json()).toEqual({ by: 'busy' })
    expect([...busy.events, ...other.events].filter((type) => /lost|failed|abandoned/.test(type))).toEqual([])
  })

  it('keeps the claim of an effect that waits for a connection', async () => {
    const pool = scene.pool({ max: 2 })
    const key = randomUUID()
    let runs = 0
    const other = replica(scene.pool(), async () => CREATED(`other ${++runs}`))
    let during: ReadonlySet<number> = new Set()
    const busy = replica(pool, async ({ effect }) => {
      runs++
      const taken = deferred<void>()
      void exhaust(pool, async () => {
        taken.resolve()
        during = await duplicates(() => other.ask(key))
      })
      await taken.promise
      return effect(async (tx) => {
        await tx.query('INSERT INTO charges (name) VALUES ($1)', [key])
        return CREATED('busy')
      })
    })
    expect((await busy.ask(key)).status).toBe(201)
    expect([[...during], runs, await scene.effects(key)]).toEqual([[409], 1, 1])
  })
})
