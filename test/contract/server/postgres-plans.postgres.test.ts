import type pg from 'pg'
import { expect, it } from 'vitest'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { answer, claimed, draft, effect, found, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

interface Statement {
  readonly text: string
  readonly values: unknown[]
}

const scene = ledgerScene()

/** A pool that notes every statement of its connections, in the words in which it is sent. */
function notingPool(): { pool: pg.Pool; statements: Statement[] } {
  const pool = scene.pool()
  const statements: Statement[] = []
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => never
    const noting = (text: unknown, values?: unknown, ...more: unknown[]): never => {
      if (typeof text === 'string') statements.push({ text, values: Array.isArray(values) ? values : [] })
      return query(text, values, ...more)
    }
    Object.assign(client, { query: noting })
  })
  return { pool, statements }
}

/** Many entries of each state, and messages, that nobody looks for: to read all of them is the dearest way. */
async function fill(): Promise<void> {
  await scene.query(`INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, attempt, external,
    in_effect, created_at, lease_until, completed_at, expires_at, status, headers, version)
    SELECT 's', state || n, 'f', 'POST', '/', state, 't', 1, false, false, now(), later, answer.at, later, answer.status,
    answer.headers, 1 FROM generate_series(1, 20000) n, (SELECT now() + interval '1 day' AS later) later,
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
  await ledger.abandon(await claimed(ledger), 0)
  await ledger.find(old.scope, old.key)
  for (const work of [() => 'one', () => 'again'])
    await ledger.consume({ scope: 's', id: 'new', retentionMs: 1000, now: 0, leaseMs: 1000 }, { work, options: {} })
  const unknown = ledger.entries({ state: 'unknown', limit: 10 })
  for await (const { state } of unknown) expect(state).toBe('unknown')
  await ledger.reap({ limit: 1000, now: 0 })
}

/** Several statements may travel together. */
function single({ text, values }: Statement): Statement[] {
  const parts = text.split(/;\s*/).filter((part) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(part))
  return parts.filter((part) => part.includes('holdfast_')).map((part) => ({ text: part, values }))
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** What Postgres does for a statement, each step of it. */
async function stepsOf({ text, values }: Statement): Promise<PlanNode[]> {
  const rows = await scene.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (FORMAT JSON) ${text}`, values)
  const all = ({ Plans = [], ...step }: PlanNode): PlanNode[] => [step, ...Plans.flatMap(all)]
  return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => all(Plan))
}

it('no statement of the ledger reads a whole table, or a whole index', async () => {
  const { pool, statements } = notingPool()
  const ledger = postgresLedger({ pool, schema: scene.schema })
  await ledger.stats(0)
  await fill()
  statements.length = 0
  await useAll(ledger)
  const sent = statements.flatMap(single)
  expect(new Set(sent.map(({ text }) => text)).size).toBeGreaterThan(15)
  const steps = (await Promise.all(sent.map(stepsOf))).flat()
  expect(steps.filter((step) => step['Node Type'] === 'Seq Scan').map((step) => step['Relation Name'])).toEqual([])
  const searches = steps.filter((step) => step['Index Name'] !== undefined)
  expect(searches.filter((step) => step['Index Cond'] === undefined)).toEqual([])
  expect([...new Set(searches.map((step) => step['Index Name']))].sort()).toEqual([
    'holdfast_entries_expiry',
    'holdfast_entries_key',
    'holdfast_entries_lease',
    'holdfast_entries_pkey',
    'holdfast_entries_unknown',
    'holdfast_messages_expiry',
    'holdfast_messages_id',
    'holdfast_messages_pkey',
  ])
})
