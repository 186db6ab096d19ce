import { beforeAll, describe, expect, it } from 'vitest'
import type { JournalCommand } from '../../../src/client/journal/port.ts'
import { encodeBatch } from '../../../src/client/journal/postgres/journal-batch.ts'
import {
  append,
  claimByKey,
  claimCommand,
  commit,
  firstInLane,
  inLane,
  list,
  NOW,
  prune,
  read,
  renew,
  surveyCommand,
} from '../../../src/testing/contracts/journal/sample-row.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()
const SETTLED = 100_000
const PENDING = 50
const WAITING = 30_000

/** How many pages of the database a batch looks at, with everything that the function does. */
async function pagesOf(schema: string, ...commands: JournalCommand[]): Promise<number> {
  const { commands: encoded, bodies } = encodeBatch(commands)
  const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
    SELECT * FROM ${schema}.holdfast_journal_v1(NULL, false, NULL, $1, $2)`
  const [first] = await scene.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(text, [encoded, bodies])
  const plan = first?.['QUERY PLAN'][0].Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}

/** The first run of a statement on a connection reads the catalogue, and plans. */
async function settledPagesOf(schema: string, ...commands: JournalCommand[]): Promise<number> {
  const counts: number[] = []
  for (let round = 0; round < 3; round++) counts.push(await pagesOf(schema, ...commands))
  return Math.min(...counts)
}

describe.each([
  ['before Postgres has looked at the table', ''],
  ['with what Postgres knew when every row was pending', 'analyzed early'],
  ['once Postgres has looked at the table', 'ANALYZE'],
])('among a hundred thousand settled rows, %s,', (_, analyze) => {
  beforeAll(async () => {
    const journal = scene.journal()
    await journal.open()
    const table = `${scene.schema}.holdfast_operations`
    await scene.query(`TRUNCATE ${table}`)
    await scene.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
    const columns = `version, namespace, key, origin, epoch, lease_until, due_at, not_before, delivery_due, head, body`
    const values = (name: string) =>
      `1, 'contract', '${name}-' || n, 'https://api.example.com', 1, 0, 0, 0, false, '{}', ''`
    const fill = (name: string, count: number, state = "'pending', NULL") =>
      scene.query(`INSERT INTO ${table} (${columns}, status, expires_at)
        SELECT ${values(name)}, ${state} FROM generate_series(1, ${count}) n`)
    if (analyze === 'analyzed early') {
      await fill('early', SETTLED)
      await scene.query(`ANALYZE ${table}`)
      await scene.query(`TRUNCATE ${table}`)
    }
    // Not by an update: a transaction of another test would keep the dead versions in the indexes.
    await fill('settled', SETTLED, `'succeeded', ${NOW + 1_000_000}`)
    await scene.query(`VACUUM ${table}`)
    await fill('pending', PENDING)
    if (analyze === 'ANALYZE') await scene.query(`ANALYZE ${table}`)
  })

  it('a claim looks at what is pending', async () => {
    expect(await settledPagesOf(scene.schema, claimCommand({ limit: 8 }))).toBeLessThan(250)
  })

  it('a claim behind a cursor looks at what stands behind it', async () => {
    expect(await settledPagesOf(scene.schema, claimCommand({ limit: 8, after: SETTLED }))).toBeLessThan(250)
  })

  it('a survey looks at what is pending', async () => {
    expect(await settledPagesOf(scene.schema, surveyCommand({ deliverNames: '*' }))).toBeLessThan(100)
  })

  it('the first of a lane, and what stands behind it, are found by the lane', async () => {
    expect(await settledPagesOf(scene.schema, firstInLane('order:1'))).toBeLessThan(10)
    await scene.query(`UPDATE ${scene.schema}.holdfast_operations SET lane = 'order:1', lane_until = ${NOW * 2}
      WHERE key LIKE 'pending-%'`)
    expect(await settledPagesOf(scene.schema, firstInLane('order:1'))).toBeLessThan(30)
    expect(await settledPagesOf(scene.schema, surveyCommand())).toBeLessThan(400)
    expect(await settledPagesOf(scene.schema, claimCommand({ limit: 8 }))).toBeLessThan(500)
  })

  it('a list of what is pending looks at what is pending', async () => {
    expect(await settledPagesOf(scene.schema, list({ status: 'pending', limit: 20 }))).toBeLessThan(100)
  })

  it('one row is found by its key or id', async () => {
    expect(await settledPagesOf(scene.schema, read('settled-77'))).toBeLessThan(30)
    expect(await settledPagesOf(scene.schema, claimByKey('settled-78'))).toBeLessThan(30)
    expect(await settledPagesOf(scene.schema, commit('settled-79'), renew('settled-80', NOW))).toBeLessThan(30)
    expect(await settledPagesOf(scene.schema, append('settled-81', { id: 'unknown' }))).toBeLessThan(60)
  })

  it('a pruning that finds nothing looks at next to nothing', async () => {
    expect(await settledPagesOf(scene.schema, prune(NOW, 500))).toBeLessThan(30)
  })
})

/** Rows that wait for times of their own, as after a long outage; a few are due. */
describe.each([
  ['before Postgres has looked at the table', ''],
  ['once Postgres has looked at the table', 'ANALYZE'],
])('among thirty thousand pending rows that are not due, %s,', (_, analyze) => {
  const schema = scene.newSchema()
  const table = `${schema}.holdfast_operations`
  const pagesOfThese = (command: JournalCommand) => settledPagesOf(schema, command)

  beforeAll(async () => {
    await scene.journalWith({ pool: scene.pool(), schema }).open()
    await scene.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
    const fill = (name: string, dueAt: string, owner = 'NULL') =>
      scene.query(`INSERT INTO ${table} (version, namespace, key, origin, epoch, lease_until, due_at, not_before,
          delivery_due, head, body, status, owner)
        SELECT 1, 'contract', '${name}-' || n, 'https://' || n % 5 || '.example', 1, ${NOW * 2}, ${dueAt}, 0, false, '{}', '',
          'pending', ${owner} FROM generate_series(1, ${name === 'waiting' ? WAITING : PENDING}) n`)
    await fill('waiting', `${NOW} + n`)
    await fill('due', `${NOW} - n`)
    await fill('held', '0', "'somebody'")
    if (analyze) await scene.query(`ANALYZE ${table}`)
  })

  it('a survey looks at one row of each origin, and at what is held', async () => {
    expect(await pagesOfThese(surveyCommand())).toBeLessThan(300)
  })

  it('a claim looks at what is due, and at what is held', async () => {
    expect(await pagesOfThese(claimCommand({ limit: 8, dueBy: NOW }))).toBeLessThan(800)
  })

  it('a claim of anything looks at as many as it takes', async () => {
    expect(await pagesOfThese(claimCommand({ limit: 8, dueBy: NOW * 2 }))).toBeLessThan(1500)
  })
})

describe('an operation that runs', () => {
  it.each([append('a'), inLane('a', 'order:1')])(
    'is renewed and noted down without a write to any index once it is claimed: $row.lane',
    async (appended) => {
      const schema = scene.newSchema()
      const pool = scene.pool({ max: 1 })
      const journal = scene.journalWith({ pool, schema })
      await journal.open()
      await journal.execute([appended], NOW)
      const { change } = commit('a')
      const { laneUntil } = appended.row
      const noted = {
        ...change,
        laneUntil,
        status: 'pending',
        owner: 'you',
        leaseUntil: NOW + 30_000,
        expiresAt: null,
      } as const
      // By a clock that goes otherwise than the database's: times move a little with every write.
      await journal.execute([claimCommand()], NOW)
      await journal.execute([renew('a', NOW + 40_000, { owner: 'you' })], NOW + 1)
      await journal.execute([{ ...commit('a', { owner: 'you' }), change: noted }], NOW + 7)
      const text = `SELECT n_tup_upd::text AS updates, n_tup_hot_upd::text AS hot FROM pg_stat_user_tables
      WHERE relid = '${schema}.holdfast_operations'::regclass`
      // A connection tells its statistics when it ends.
      await journal.close()
      await expect.poll(() => scene.query(text)).toEqual([{ updates: '3', hot: '2' }])
    },
  )
})
