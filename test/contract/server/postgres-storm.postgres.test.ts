import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLedger, json, type LedgerEvent, type ProtectOptions } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { deferred, ledgerScene } from '../../support/postgres-ledger.ts'

/*
 * Many keys, each with duplicates around its one request, which reach another replica. A larger run:
 *
 *     HOLDFAST_STORM_KEYS=10000 npx vitest run --project postgres test/contract/server/postgres-storm.postgres.test.ts
 */
const KEYS = Number(process.env.HOLDFAST_STORM_KEYS ?? 300)
const DUPLICATES = 6
const AT_ONCE = 4
const MOST_ROUNDS = 50

const scene = ledgerScene()

/** The provider of payments, outside of the database. */
class Provider {
  readonly charges = new Map<string, number>()
  /** The next charge waits for this. */
  next: Promise<void> | undefined

  async charge(key: string): Promise<void> {
    const gate = this.next ?? pause(1)
    this.next = undefined
    await gate
    this.charges.set(key, (this.charges.get(key) ?? 0) + 1)
  }

  /** Those that were not charged exactly once. */
  wrong(keys: readonly string[]): readonly string[] {
    return keys.filter((key) => this.charges.get(key) !== 1)
  }
}

/** A replica with a pool of its own: charges, then writes a row and answers in one transaction. */
function replica(provider: Provider, { options, events }: { options: ProtectOptions; events: string[] }) {
  const store = postgresLedger({ pool: scene.pool({ max: 10 }), schema: scene.schema })
  const observe = ({ type }: LedgerEvent): unknown => events.push(type)
  const ledger = createLedger({ store, scope: 'public', observe })
  const handler = ledger.protect(async (_, { effect, key }) => {
    await provider.charge(String(key))
    return effect(async (tx) => {
      await tx.query('INSERT INTO charges (name) VALUES ($1)', [key])
      return json({ key }, { status: 201 })
    })
  }, options)
  const ask = (key: string) =>
    handler(new Request('http://127.0.0.1/charges', { method: 'POST', headers: { 'idempotency-key': key } }))
  return { ask, find: (key: string) => ledger.find('public', key) }
}

type Replica = ReturnType<typeof replica>

/** The statuses of the request and its duplicates, which come one after the other until all are answered. */
async function storm(first: Replica, second: Replica, key: string): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>()
  let isOver = false
  const duplicate = async (): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS && !isOver; round++) statuses.add((await second.ask(key)).status)
  }
  const request = first.ask(key).finally(() => {
    isOver = true
  })
  await Promise.all([request, ...Array.from({ length: DUPLICATES }, duplicate)])
  statuses.add((await request).status)
  return statuses
}

async function forEach(keys: readonly string[], act: (key: string) => Promise<void>): Promise<void> {
  const rest = [...keys]
  const work = async (): Promise<void> => {
    for (let key = rest.pop(); key !== undefined; key = rest.pop()) await act(key)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

const KINDS: Readonly<Record<string, (provider: Provider) => ProtectOptions>> = {
  'an external handler': () => ({ external: true }),
  'an external handler that can reconcile': ({ charges }) => ({
    external: true,
    reconcile: ({ key }) => (charges.has(key) ? json({ key }, { status: 201 }) : 'rerun'),
  }),
  'a handler that is not external': () => ({}),
}

describe.each(Object.entries(KINDS))('duplicates around every request to %s', (_, optionsOf) => {
  it(
    'let it run once: one charge, one row and one answer for each key',
    async () => {
      const provider = new Provider()
      const options = optionsOf(provider)
      const name = randomUUID()
      const events: string[] = []
      const [first, second] = [replica(provider, { options, events }), replica(provider, { options, events })]
      const keys = Array.from({ length: KEYS }, (_, index) => `${name}-${index}`)
      const statuses = new Set<number>()
      const last = new Set<number>()
      await forEach(keys, async (key) => {
        for (const status of await storm(first, second, key)) statuses.add(status)
        last.add((await second.ask(key)).status)
      })
      expect(provider.wrong(keys)).toEqual([])
      const rows = await scene.query<{ name: string; count: string }>(
        'SELECT name, count(*) FROM charges WHERE name LIKE $1 GROUP BY name',
        [`${name}-%`],
      )
      expect([rows.length, rows.filter(({ count }) => count !== '1')]).toEqual([KEYS, []])
      const states = await scene.query<{ state: string }>(
        'SELECT DISTINCT state FROM holdfast_entries WHERE key LIKE $1',
        [`${name}-%`],
      )
      expect(states).toEqual([{ state: 'done' }])
      expect([...last]).toEqual([201])
      expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([])
      expect(events.filter((type) => /lost|abandoned|failed/.test(type))).toEqual([])
    },
    60_000 + 100 * KEYS,
  )

  it('do so also between the beginning of the effect and the lock on its row', async () => {
    const provider = new Provider()
    const options = optionsOf(provider)
    const events: string[] = []
    const [first, second] = [replica(provider, { options, events }), replica(provider, { options, events })]
    const key = randomUUID()
    const gate = deferred<void>()
    provider.next = gate.promise
    const request = first.ask(key)
    const blocker = await scene.pool().connect()
    await blocker.query('BEGIN')
    await expect.poll(async () => (await first.find(key))?.state).toBe('running')
    // The mode that lets the mark pass, and holds up the lock.
    await blocker.query('SELECT FROM holdfast_entries WHERE key = $1 FOR KEY SHARE', [key])
    gate.resolve()
    await expect.poll(async () => (await first.find(key))?.inEffect).toBe(true)
    const duplicates = await Promise.all(Array.from({ length: DUPLICATES }, () => second.ask(key)))
    await blocker.query('ROLLBACK')
    blocker.release()
    expect((await request).status).toBe(201)
    expect(duplicates.map(({ status }) => status)).toEqual(Array(DUPLICATES).fill(409))
    expect([provider.wrong([key]), await scene.effects(key)]).toEqual([[], 1])
    expect(events.filter((type) => /lost|abandoned|failed/.test(type))).toEqual([])
  })
})
