import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { endRunner } from '../../../src/foundation/runners-here.ts'
import type { LedgerStore } from '../../../src/server/adapter/index.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { ledgerSource } from '../../../src/server/ledger/sqlite/ledger-tables.ts'
import { type SqliteLedgerOptions, sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { sqliteJournal } from '../../../src/sqlite/index.ts'
import {
  COMMITTED,
  claimed,
  consumption,
  draft,
  entryAt,
  LAPSED,
  message,
  met,
  now,
  RELEASED,
  ROLLED_BACK,
  rejection,
  SCOPE,
  stateOf,
  transact,
  transacted,
} from '../../../src/testing/contracts/ledger/sample-entry.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-ledger-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function newFile(): string {
  return join(folder, `${++files}.db`)
}

/** The suite's samples hand any transaction to any store. */
function ledgerOn(options: SqliteLedgerOptions): LedgerStore {
  return sqliteLedger(options) as unknown as LedgerStore
}

function open(path = newFile()) {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE IF NOT EXISTS effects (name TEXT NOT NULL)')
  const effect = (name: string): void => void database.prepare('INSERT INTO effects VALUES (?)').run(name)
  const effects = (): number => (database.prepare('SELECT count(*) AS n FROM effects').get() as { n: number }).n
  const work = (name: string) => () => {
    effect(name)
    return COMMITTED
  }
  return { path, database, effect, effects, work, store: ledgerOn({ database }) }
}

describe('an effect in SQLite', () => {
  it('is done before the call returns', async () => {
    const { store, work, effects } = open()
    const claim = await claimed(store, 'a')
    const ended = transacted(store, transact(claim, work('a')))
    expect(effects()).toBe(1)
    expect(await ended).toBe('recorded')
  })

  it('is refused inside a transaction that it does not know of, and its claim is kept', async () => {
    const { store, database, work, effects } = open()
    const claim = await claimed(store, 'a')
    database.exec('BEGIN')
    const refused = rejection(transacted(store, transact(claim, work('a'))))
    database.exec('COMMIT')
    expect(await refused).toMatchObject({
      code: 'HOLDFAST_CONFIGURATION',
      message: expect.stringContaining('effect(work, { transaction: database })'),
    })
    expect([effects(), await stateOf(store, 'a')]).toEqual([0, 'running'])
  })

  it('takes no other transaction than one of its own handle', async () => {
    const { store, path, database } = open()
    const other = new Database(path)
    other.exec('BEGIN')
    const claim = await claimed(store, 'a')
    for (const transaction of [other, database, {}, 'tx']) {
      const error = await rejection(
        transacted(
          store,
          transact(claim, () => COMMITTED, transaction),
        ),
      )
      expect(error).toMatchObject({ code: 'HOLDFAST_CONFIGURATION', message: expect.stringContaining('`transaction`') })
    }
    other.close()
  })

  it('gives back what the tables of the work say at the commit, and keeps the claim', async () => {
    const { store, database } = open()
    database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`)
    const claim = await claimed(store, 'a')
    const work = () => {
      database.exec('INSERT INTO children VALUES (7)')
      return COMMITTED
    }
    const error = await rejection(transacted(store, transact(claim, work)))
    expect(error).toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
    expect(await stateOf(store, 'a')).toBe('running')
  })

  it.each([
    { sql: 'COMMIT', kept: 1, state: 'done' },
    { sql: 'ROLLBACK', kept: 0, state: 'unknown' },
    { sql: "ROLLBACK; INSERT INTO effects VALUES ('a')", kept: 1, state: 'unknown' },
  ])('is told that its work did $sql, and its key is not freed', async ({ sql, kept, state }) => {
    const { store, database, effect, effects } = open()
    const claim = await claimed(store, 'a')
    const work = () => {
      effect('a')
      database.exec(sql)
      return COMMITTED
    }
    const error = await rejection(transacted(store, transact(claim, work)))
    expect(error).toMatchObject({ code: 'HOLDFAST_CONFIGURATION', message: expect.stringContaining('COMMIT') })
    expect([database.inTransaction, effects(), await stateOf(store, 'a')]).toEqual([false, kept, state])
  })

  it.each([
    { end: COMMITTED, kind: 'recorded', state: 'done' },
    { end: ROLLED_BACK, kind: 'refused', state: 'done' },
    { end: RELEASED, kind: 'refused', state: 'unknown' },
  ] as const)(
    'is not released where its work did COMMIT; BEGIN and asked for $end.kind',
    async ({ end, kind, state }) => {
      const { store, database, effect, effects } = open()
      const claim = await claimed(store, 'a')
      const work = () => {
        effect('a')
        database.exec('COMMIT; BEGIN')
        return end
      }
      expect(await transacted(store, transact(claim, work)).catch(() => 'refused')).toBe(kind)
      expect([database.inTransaction, effects(), await stateOf(store, 'a')]).toEqual([false, 1, state])
    },
  )

  it('is unknown where its work commits by itself and then throws', async () => {
    const { store, database, effect } = open()
    const claim = await claimed(store, 'a')
    const broken = new Error('broken')
    const work = () => {
      effect('a')
      database.exec('COMMIT')
      throw broken
    }
    const error = await rejection(transacted(store, transact(claim, work)))
    expect(error).toMatchObject({ name: 'EndedTransactionError', effect: 'unknown', cause: broken })
    expect(await stateOf(store, 'a')).toBe('unknown')
  })

  it('may use transactions of its own inside', async () => {
    const { store, database, effect, effects } = open()
    const work = () => {
      database.transaction(() => effect('kept'))()
      expect(() =>
        database.transaction(() => {
          effect('undone')
          throw new Error('undone')
        })(),
      ).toThrow('undone')
      return COMMITTED
    }
    expect(await transacted(store, transact(await claimed(store, 'a'), work))).toBe('recorded')
    expect(effects()).toBe(1)
  })
})

describe('a ledger in SQLite', () => {
  it('waits for the write lock of another process without blocking', async () => {
    const { store, path, work, effects } = open()
    const claim = await claimed(store, 'a')
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const ended = transacted(store, transact(claim, work('a')))
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    other.exec('COMMIT')
    expect([await ended, effects()]).toEqual(['recorded', 1])
    other.close()
  })

  it('gives up after five seconds, with a sentence, and nothing is done', async () => {
    const { store, path, work, effects } = open()
    const claim = await claimed(store, 'a')
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const error = await rejection(transacted(store, transact(claim, work('a'))))
    other.exec('COMMIT')
    expect(error).toMatchObject({ code: 'HOLDFAST_STORAGE', message: expect.stringContaining('is locked') })
    expect([effects(), await store.release(claim)]).toEqual([0, true])
    other.close()
  })

  it("stays out of the caller's open transactions", async () => {
    const { store, database } = open()
    await claimed(store, 'first')
    database.exec('BEGIN')
    const inserted = store.insert(draft('a'))
    await new Promise((resolve) => setImmediate(resolve))
    database.exec('ROLLBACK')
    expect((await inserted).kind).toBe('inserted')
    expect(await stateOf(store, 'a')).toBe('running')
  })

  it('knows at once that the one who held a claim is gone', async () => {
    const { store, path, database } = open()
    await claimed(store, 'a')
    const other = ledgerOn({ path })
    expect((await met(other, 'a')).owner).toBe('unsure')
    endRunner((database.prepare('SELECT owner FROM holdfast_entries').get() as { owner: string }).owner)
    expect((await met(other, 'a')).owner).toBe('gone')
    await other.close()
  })

  it('lets go of its claims when it is closed, and of nothing else that is not its own', async () => {
    const { store, database, path } = open()
    await claimed(store, 'a')
    await store.close()
    expect(database.open).toBe(true)
    expect(await rejection(store.find(SCOPE, 'a'))).toMatchObject({ code: 'HOLDFAST_STORAGE' })
    const other = ledgerOn({ path })
    expect((await met(other, 'a')).owner).toBe('gone')
    await other.close()
    await other.close()
  })

  it('leaves a row of a newer version alone, and tells the caller to come back', async () => {
    const { store, database } = open()
    await claimed(store, 'a', { ...LAPSED, scope: 'public', retentionMs: -1 })
    database.exec(`UPDATE holdfast_entries SET version = 2, state = 'done', status = 900, headers = 'in another way',
      completed_at = 1`)
    const before = database.prepare('SELECT * FROM holdfast_entries').all()
    const ledger = createLedger({ store, scope: 'public' })
    const handler = ledger.protect(async (_, { effect }) => effect(() => json({ ok: true })))
    const request = new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'a' } })
    const response = await handler(request)
    const entry = await store.find('public', 'a')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(entry && (await store.takeOver(entry, draft('a', { scope: 'public' })))).toBeUndefined()
    expect(await store.reap({ limit: 10, now: now() })).toEqual({ deleted: 0, abandoned: 0, more: false })
    expect(database.prepare('SELECT * FROM holdfast_entries').all()).toEqual(before)
  })

  it('refuses tables of a newer library, and leaves them as they are', async () => {
    const { store, database } = open()
    await claimed(store, 'a')
    database.exec("INSERT INTO holdfast_migrations VALUES ('ledger', 2)")
    const error = await rejection(sqliteLedger({ database }).insert(draft('b')))
    expect(error).toMatchObject({ code: 'HOLDFAST_STORAGE', message: expect.stringContaining('newer Holdfast') })
  })

  it('shares a file with a journal', async () => {
    const { store, database, path } = open()
    const journal = sqliteJournal({ database })
    await journal.open()
    await claimed(store, 'a')
    const tables = database
      .prepare('SELECT component, version FROM holdfast_migrations ORDER BY component, version')
      .all()
    expect(tables).toEqual([
      { component: 'journal', version: 1 },
      { component: 'journal', version: 2 },
      { component: 'journal', version: 3 },
      { component: 'ledger', version: 1 },
    ])
    expect(existsSync(path)).toBe(true)
  })

  it.each(['full', 'process'] as const)('makes its commits survive what %s says, on both forms', async (durability) => {
    const { database, path } = open()
    const onHandle = ledgerOn({ database, durability })
    await claimed(onHandle, 'a')
    expect(database.pragma('synchronous', { simple: true })).toBe(durability === 'full' ? 2 : 1)
    const onPath = ledgerOn({ path, durability })
    let seen: unknown
    await onPath.transact(
      transact(null, (tx) => {
        seen = (tx as Database.Database).pragma('synchronous', { simple: true })
        return COMMITTED
      }),
    )
    expect(seen).toBe(durability === 'full' ? 2 : 1)
    await onPath.close()
  })

  it('refuses a handle or a place that it cannot keep anything in', async () => {
    const { path } = open()
    const readonly = new Database(path, { readonly: true })
    expect(() => sqliteLedger({ database: readonly })).toThrow('read-only')
    expect(() => sqliteLedger({ database: {} as never })).toThrow('not a better-sqlite3 handle')
    expect(() => sqliteLedger({ path: ':memory:' })).toThrow('memoryLedger()')
    expect(() => sqliteLedger({} as never)).toThrow('needs a database, or the path')
    expect(() => sqliteLedger({ path, durability: 'half' as never })).toThrow("'full' or 'process'")
    const careless = new Database(newFile())
    careless.unsafeMode(true)
    careless.pragma('journal_mode = OFF')
    const error = await rejection(sqliteLedger({ database: careless }).insert(draft('a')))
    expect(error).toMatchObject({ code: 'HOLDFAST_STORAGE', message: expect.stringContaining('journal_mode = off') })
    expect(await rejection(sqliteLedger({ path: folder }).insert(draft('a')))).toMatchObject({
      message: `The ledger ${folder} cannot be opened: it is a folder`,
    })
  })

  it('does a message in a transaction of the caller also where that is the first use of all', async () => {
    const { store, database, effect, effects } = open()
    database.exec('BEGIN')
    const work = () => {
      effect('m')
      return '"v"'
    }
    expect(await store.consume(message('m'), consumption(work, database))).toEqual({ duplicate: false, value: '"v"' })
    database.exec('ROLLBACK')
    expect(effects()).toBe(0)
    expect(await store.consume(message('m'), consumption(work))).toEqual({ duplicate: false, value: '"v"' })
    expect([effects(), (await entryAt(store, 'a').catch(() => undefined)) === undefined]).toEqual([1, true])
  })

  it.each([
    'insert',
    'find',
    'takeOver',
    'record',
    'release',
    'mark',
    'reapMessages',
    'reapEntries',
    'reapMayHaveEffect',
    'list',
    'listUnknown',
    'count',
    'entriesPage',
    'eraseAnswers',
    'eraseEntries',
    'messagesPage',
    'eraseValues',
    'eraseMessages',
  ] as const)('never looks through all rows to %s', async (name) => {
    const { store, database } = open()
    await claimed(store, 'a')
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${ledgerSource(name)}`)
    const names = [...ledgerSource(name).matchAll(/@(\w+)/g)].map(([, value]) => [value, 1])
    const rows = plan.all(Object.fromEntries(names)) as { detail: string }[]
    expect(rows.filter(({ detail }) => /^SCAN/.test(detail) && !/SUBQUERY|subquery/.test(detail))).toEqual([])
  })

  it('reads no more for its gauges than the ends of indexes, and what is unknown', async () => {
    const { store, database } = open()
    await claimed(store, 'a')
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${ledgerSource('gauges')}`).all() as { detail: string }[]
    const scans = plan.map(({ detail }) => detail).filter((detail) => /^SCAN holdfast/.test(detail))
    // Of the index on the expiry only the first row is read: there is a LIMIT.
    const fine = /USING (COVERING )?INDEX holdfast_entries_(unknown|expiry)$/
    expect([scans.length > 0, scans.filter((detail) => !fine.test(detail))]).toEqual([true, []])
  })
})

describe('an effect in a transaction of the handler', () => {
  const request = (): Request =>
    new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': 'k' } })

  function handling(status: number | 'throws', end: 'COMMIT' | 'ROLLBACK') {
    const { database, effect: write, effects } = open()
    const store = sqliteLedger({ database })
    const handler = createLedger({ store, scope: 'public' }).protect(async (_, { effect }) => {
      database.exec('BEGIN')
      try {
        return await effect(
          () => {
            write('k')
            if (status === 'throws') throw new Error('broken')
            return json({ status }, { status })
          },
          { transaction: database },
        )
      } finally {
        database.exec(end)
      }
    })
    const ask = async (): Promise<unknown[]> => {
      const answered = await handler(request()).then(
        (response) => response.status,
        (error: Error) => error.message,
      )
      return [answered, (await store.find('public', 'k'))?.state, effects()]
    }
    return { ask }
  }

  it.each([
    { status: 201, end: 'COMMIT', becomes: [201, 'done', 1] },
    { status: 422, end: 'COMMIT', becomes: [422, 'done', 0] },
    { status: 500, end: 'COMMIT', becomes: [500, undefined, 0] },
    { status: 500, end: 'ROLLBACK', becomes: [500, undefined, 0] },
    { status: 'throws', end: 'COMMIT', becomes: ['broken', undefined, 0] },
    { status: 'throws', end: 'ROLLBACK', becomes: ['broken', undefined, 0] },
  ] as const)('that answers $status and ends in $end leaves a key that is done or free', async (each) => {
    const { ask } = handling(each.status, each.end)
    expect(await ask()).toEqual(each.becomes)
    expect(await ask()).toEqual(each.becomes)
  })
})
