import { expect, it } from 'vitest'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { answer, claimed, draft, effect, found, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

/** Many entries of each state, and messages, that nobody looks for: to read all of them is the dearest way. */
async function fill(): Promise<void> {
  await scene.query('TRUNCATE holdfast_entries, holdfast_messages')
  await scene.query(`INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, attempt, external,
    in_effect, created_at, lease_until, completed_at, expires_at, status, headers, unknown_since, version)
    SELECT 's', state || n, 'f', 'POST', '/', state, 't', 1, false, false, now(), later, answer.at, later, answer.status,
    answer.headers, CASE state WHEN 'unknown' THEN later END, 1 FROM generate_series(1, 20000) n, (SELECT now() + interval '1 day' AS later) later,
    (VALUES ('running', NULL, NULL, NULL), ('unknown', NULL, NULL, NULL), ('done', now(), 201, '[]'))
    AS answer (state, at, status, headers)`)
  await scene.query(`INSERT INTO holdfast_messages (scope, id, expires_at)
    SELECT 's', 'm' || n, now() + interval '1 day' FROM generate_series(1, 20000) n`)
  await scene.query('ANALYZE holdfast_entries, holdfast_messages')
}

/** Everything that a ledger does to its tables, except to count them. */
async function useAll(ledger: PgLedger): Promise<void> {
  const old = await claimed(ledger, { leaseMs: 0 })
  const { entry } = await found(ledger, old)
  const claim = await ledger.takeOver(entry, draft({ key: old.key }))
  if (!claim) throw new Error('It was not taken over')
  await ledger.renew(claim, { leaseMs: 1000, now: 0 })
  await effect(ledger, claim)
  await ledger.complete(await claimed(ledger), answer('done'), 0)
  await ledger.release(await claimed(ledger))
  await ledger.renew(old, { leaseMs: 1000, now: 0 })
  await ledger.abandon(await claimed(ledger, { external: true, leaseMs: 0 }), 0)
  await claimed(ledger, { external: true, leaseMs: 0 })
  await ledger.find(old.scope, old.key)
  for (const work of [() => 'one', () => 'again'])
    await ledger.consume({ scope: 's', id: 'new', retentionMs: 1000, now: 0, leaseMs: 1000 }, { work, options: {} })
  await ledger.consume({ scope: 's', id: 'old', retentionMs: 0, now: 0 }, { work: () => null, options: {} })
  const unknown = ledger.entries({ state: 'unknown', limit: 10 })
  for await (const { state } of unknown) expect(state).toBe('unknown')
  await ledger.reap({ limit: 1000, now: 0 })
  await ledger.count('s', 20)
  for (const what of ['answers', 'entries'] as const) {
    await ledger.erase({ scope: 's', what, after: undefined, limit: 5 })
    await ledger.erase({ scope: 's', what, after: { table: 'messages', last: 'm5' }, limit: 5 })
  }
}

/** A ledger that is used on a connection of its own. What it has read is counted when that has ended. */
async function apart(use: (ledger: PgLedger) => Promise<unknown>): Promise<void> {
  const pool = scene.pool()
  await use(postgresLedger({ pool, schema: scene.schema }))
  await pool.end()
  const connected = () => scene.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [scene.schema])
  await expect.poll(connected, { timeout: 20_000 }).toEqual([])
}

/** As Postgres counts them, once the connections that used them have ended. */
interface Reads {
  /** How often a table was read from its beginning to its end. */
  readonly whole: number
  /** How many rows the scans of each index have met. */
  readonly byIndex: Readonly<Record<string, number>>
}

async function reads(): Promise<Reads> {
  const [tables] = await scene.query<{ whole: string }>(
    'SELECT sum(seq_scan) AS whole FROM pg_stat_user_tables WHERE schemaname = $1',
    [scene.schema],
  )
  const indexes = await scene.query<{ name: string; met: string; scans: string }>(
    `SELECT indexrelname AS name, idx_tup_read AS met, idx_scan AS scans FROM pg_stat_user_indexes
     WHERE schemaname = $1 AND relname IN ('holdfast_entries', 'holdfast_messages')`,
    [scene.schema],
  )
  const used = indexes.filter(({ scans }) => Number(scans) > 0)
  return { whole: Number(tables?.whole), byIndex: Object.fromEntries(used.map(({ name, met }) => [name, Number(met)])) }
}

it('the gauges read the ends of indexes, and what is unknown', async () => {
  await apart((ledger) => ledger.stats(0))
  await scene.query(`INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, attempt, external,
    in_effect, created_at, lease_until, completed_at, expires_at, status, headers, version)
    SELECT 'g', n::text, 'f', 'POST', '/', 'done', 't', 1, false, false, now(), now(), now(),
      now() + n * interval '1 second', 201, '[]', 1 FROM generate_series(1, 20000) n`)
  await scene.query(`INSERT INTO holdfast_messages (scope, id, expires_at)
    SELECT 'g', n::text, now() + interval '1 day' FROM generate_series(1, 20000) n`)
  await apart(async (ledger) => ledger.abandon(await claimed(ledger), 0))
  await scene.query('ANALYZE holdfast_entries, holdfast_messages')
  await scene.query('SELECT pg_stat_reset()')
  await apart(async (ledger) => expect(await ledger.gauges(0)).toMatchObject({ unknown: 1, entries: 20_001 }))
  await expect
    .poll(async () => Object.keys((await reads()).byIndex).sort(), { timeout: 20_000 })
    .toEqual(expect.arrayContaining(['holdfast_entries_expiry', 'holdfast_entries_unknown']))
  const { whole, byIndex } = await reads()
  expect(whole).toBe(0)
  for (const [name, met] of Object.entries(byIndex)) expect([name, met < 20]).toEqual([name, true])
  await scene.query('TRUNCATE holdfast_entries, holdfast_messages')
})

it('no statement of the ledger reads a whole table, or a whole index', async () => {
  await apart((ledger) => ledger.stats(0))
  await fill()
  await scene.query('SELECT pg_stat_reset()')
  await apart(useAll)
  await expect
    .poll(async () => Object.keys((await reads()).byIndex).sort(), { timeout: 20_000 })
    .toEqual([
      'holdfast_entries_expiry',
      'holdfast_entries_external',
      'holdfast_entries_key',
      'holdfast_entries_pkey',
      'holdfast_entries_unknown',
      'holdfast_messages_expiry',
      'holdfast_messages_id',
      'holdfast_messages_pkey',
    ])
  const { whole, byIndex } = await reads()
  // Of 20,000 in each state.
  expect(whole).toBe(0)
  for (const [name, met] of Object.entries(byIndex)) expect([name, met < 200]).toEqual([name, true])
})
