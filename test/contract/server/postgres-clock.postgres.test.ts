import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLedger, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/postgres/index.ts'
import { deferred } from '../../support/postgres-ledger.ts'
import { type RunningPostgres, startPostgres } from '../../support/postgres-setup.ts'
import { ask } from '../../support/protected-shop.ts'

/** One of our own: a clock that jumps is that of the whole server. */
let postgres: RunningPostgres
let admin: pg.Pool
const pools: pg.Pool[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  admin = new pg.Pool({ connectionString: postgres.url, max: 1 }).on('error', () => {})
  await admin.query(`CREATE TABLE clock AS SELECT interval '0' AS ahead;
    SET allow_system_table_mods = on;
    ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock;
    CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS 'SELECT true_clock() + ahead FROM public.clock'`)
})
beforeEach(() => jump('0'))
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end()
})
afterAll(async () => {
  await admin?.end()
  await postgres?.stop()
})

async function jump(ahead: string): Promise<void> {
  await admin.query('UPDATE clock SET ahead = $1::interval', [ahead])
}

function replica() {
  const pool = new pg.Pool({ connectionString: postgres.url }).on('error', () => {})
  pools.push(pool)
  return createLedger({ store: postgresLedger({ pool }), scope: 'public', lease: '60s' })
}

async function problemOf(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as { type: string }).type.split(':').pop()]
}

let keys = 0

/** A handler that runs until it is told to end, in one replica, and what others say to its duplicate. */
function running(ledger: ReturnType<typeof replica>, options: { readonly external?: boolean }) {
  const [begun, end] = [deferred<void>(), deferred<void>()]
  const seen = { runs: 0, aborted: false }
  const handle = async (_: Request, { signal }: { readonly signal: AbortSignal }) => {
    seen.runs++
    begun.resolve()
    await end.promise
    seen.aborted ||= signal.aborted
    return json({ charged: true }, { status: 201 })
  }
  const key = `clock-${++keys}`
  const duplicate = (other: ReturnType<typeof replica>) => other.protect(handle, options)(ask(key))
  const first = duplicate(ledger)
  return { key, seen, first, duplicate, begun: begun.promise, end: () => end.resolve() }
}

describe('a live handler whose lease seems to have lapsed', () => {
  it.each([
    ['plain', {}],
    ['external', { external: true }],
  ])('because the database’s clock jumped is not taken for dead: %s', async (_, options) => {
    const [one, other, fresh] = [replica(), replica(), replica()]
    await other.stats()
    const { seen, first, duplicate, begun, end } = running(one, options)
    await begun
    await jump('90s')
    // One that began before the jump, and one that begins after it.
    for (const ledger of [other, fresh]) expect(await problemOf(await duplicate(ledger))).toEqual([409, 'in-flight'])
    await other.reap()
    expect(await problemOf(await duplicate(other))).toEqual([409, 'in-flight'])
    end()
    expect((await first).status).toBe(201)
    expect(seen).toEqual({ runs: 1, aborted: false })
    expect((await duplicate(other)).status).toBe(201)
    for (const ledger of [one, other, fresh]) await ledger.close()
  })

  it('and that is held because it is external still records what it did', async () => {
    const [one, other] = [replica(), replica()]
    const { key, seen, first, duplicate, begun, end } = running(one, { external: true })
    await begun
    await admin.query("UPDATE holdfast.holdfast_entries SET lease_until = now() - interval '1 second' WHERE key = $1", [
      key,
    ])
    expect(await problemOf(await duplicate(other))).toEqual([409, 'outcome-unknown'])
    expect(await other.find('public', key)).toMatchObject({ state: 'unknown' })
    end()
    expect((await first).status).toBe(201)
    expect(await other.find('public', key)).toMatchObject({ state: 'done' })
    expect((await duplicate(other)).status).toBe(201)
    expect(seen).toEqual({ runs: 1, aborted: false })
    for (const ledger of [one, other]) await ledger.close()
  })
})
