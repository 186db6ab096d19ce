import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { journalSchema } from '../../../../../src/client/journal/sqlite/sqlite-schema.ts'
import { sourceOf } from '../../../../../src/client/journal/sqlite/sqlite-statements.ts'
import { migrate } from '../../../../../src/sql/sqlite-migrate.ts'
import { sqliteJournal } from '../../../../../src/sqlite/index.ts'
import {
  append,
  claimCommand,
  held,
  inLane,
  renew,
  settled,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'

type StatementName = Parameters<typeof sourceOf>[0]

const INDEXES: Partial<Record<StatementName, string>> = {
  findDue: 'holdfast_operations_open (namespace=? AND rowid>?)',
  nextDue: 'holdfast_operations_due (namespace=? AND due_kind>?)',
  firstInLane: 'holdfast_operations_lane (namespace=? AND lane=?)',
  owners: 'holdfast_operations_held (namespace=? AND owner>?)',
  listPending: 'holdfast_operations_open (namespace=? AND rowid>?)',
  listBehind: 'INTEGER PRIMARY KEY (rowid>?)',
  findByKey: 'holdfast_operations_key (namespace=? AND key=?)',
  change: 'holdfast_operations_key (namespace=? AND key=?)',
  remove: 'holdfast_operations_key (namespace=? AND key=?)',
  renew: 'holdfast_operations_key (namespace=? AND key=?)',
  byId: 'holdfast_operations_id (namespace=? AND id=?)',
  setAside: 'holdfast_operations_key (namespace=? AND key=?)',
  dropExpired: 'holdfast_operations_expiry',
}

/** Binds nothing in particular: a plan does not depend on it. */
function planOf(database: Database.Database, source: string): string {
  const bare = source.replace(/@\w+|\?/g, '1')
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${bare}`).all() as { detail: string }[]
  return steps.map(({ detail }) => detail).join('\n')
}

describe('what the SQLite journal costs', () => {
  it.each(Object.entries(INDEXES))(
    '%s looks through an index, and never sorts or scans the table',
    async (name, index) => {
      const database = new Database(':memory:')
      await sqliteJournal({ database }).open()
      const plan = planOf(database, sourceOf(name as StatementName))
      expect(plan).toContain(index)
      expect(plan).not.toMatch(/SCAN (o|holdfast)|ORDER BY/)
    },
  )

  it.each(['findDue', 'nextDue'] as const)(
    '%s looks for the rows before it in a lane through an index',
    async (name) => {
      const database = new Database(':memory:')
      await sqliteJournal({ database }).open()
      expect(planOf(database, sourceOf(name))).toContain(
        'holdfast_operations_lane (namespace=? AND lane=? AND rowid<?)',
      )
    },
  )

  it('rows that hold no lane are in no index for it', async () => {
    const database = new Database(':memory:')
    const journal = sqliteJournal({ database })
    await journal.open()
    await journal.execute([append('a'), append('b', { lane: 'x' }), inLane('c', 'x'), inLane('d', 'y')])
    const cells = database
      .prepare("SELECT sum(ncell) FROM dbstat WHERE name = 'holdfast_operations_lane'")
      .pluck()
      .get()
    expect(cells).toBe(2)
  })

  it('a file from before there were lanes is brought up to date, and loses nothing', async () => {
    const database = new Database(':memory:')
    migrate(database, { ...journalSchema, steps: journalSchema.steps.slice(0, 1) })
    database.exec(`INSERT INTO holdfast_operations (version, namespace, key, origin, status, epoch, lease_until, due_at,
      not_before, delivery_due, body_apart, head) VALUES (1, 'contract', 'a', 'o', 'pending', 0, 0, 0, 0, 0, 0, '{}')`)
    const journal = sqliteJournal({ database })
    await journal.open()
    expect(await journal.execute([claimCommand()])).toMatchObject([[{ key: 'a', lane: null, laneUntil: null }]])
  })

  it('settled rows that await no delivery are not in the index of claims', async () => {
    const database = new Database(':memory:')
    const journal = sqliteJournal({ database })
    await journal.open()
    const many = Array.from({ length: 1000 }, (_, at) => settled(`s${at}`, { expiresAt: 1 }))
    await journal.execute([...many, append('a'), held('b', { leaseUntil: 0 }), settled('c', { deliveryDue: true })])
    const pages = database
      .prepare("SELECT sum(ncell) FROM dbstat WHERE name = 'holdfast_operations_open'")
      .pluck()
      .get()
    expect(pages).toBe(3)
    expect(await journal.execute([claimCommand({ deliverNames: '*' })])).toMatchObject([
      [{ key: 'a' }, { key: 'b' }, { key: 'c' }],
    ])
  })

  it('a change of a row does not write its large body again', async () => {
    const database = new Database(':memory:')
    const journal = sqliteJournal({ database })
    await journal.open()
    await journal.execute([held('a', { body: new Uint8Array(1_000_000) })])
    const size = () =>
      database.prepare("SELECT sum(pgsize) FROM dbstat WHERE name = 'holdfast_operations'").pluck().get()
    expect(size()).toBeLessThan(10_000)
    expect(await journal.execute([renew('a', 5)])).toEqual([true])
    await journal.execute([{ do: 'drop', namespace: 'contract' }])
    expect(database.prepare('SELECT count(*) FROM holdfast_bodies').pluck().get()).toBe(0)
  })
})
