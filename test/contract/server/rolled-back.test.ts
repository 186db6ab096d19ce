import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { endRunner } from '../../../src/foundation/runners-here.ts'
import type { LedgerStore, WorkOutcome } from '../../../src/server/adapter/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import {
  COMMITTED,
  claimed,
  draft,
  entryAt,
  LAPSED,
  met,
  RELEASED,
  ROLLED_BACK,
  rejection,
  stateOf,
  transact,
  transacted,
} from '../../../src/testing/contracts/ledger/sample-entry.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-rolled-back-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `trace` has the statements that end transactions, and those that settle entries. */
function scene() {
  const path = join(folder, `${++files}.db`)
  const trace: string[] = []
  let dies = false
  const verbose = (sql: unknown): void => {
    const word =
      /^(?:BEGIN IMMEDIATE|COMMIT|ROLLBACK|SAVEPOINT|DELETE FROM holdfast_entries WHERE scope|UPDATE holdfast_entries SET state = '(?:done|unknown)')/
    const found = word.exec(String(sql))?.[0]
    if (found) trace.push(found.replace(/ (?:FROM|holdfast).*= '|.FROM.*/, ' ').replace("'", ''))
    if (dies && trace.includes('ROLLBACK') && found !== 'ROLLBACK') throw new Error('The process is dead')
  }
  const database = new Database(path, { verbose })
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE effects (name TEXT NOT NULL)')
  const other = new Database(path)
  const effects = (): number => (other.prepare('SELECT count(*) AS n FROM effects').get() as { n: number }).n
  const work = (end: WorkOutcome | Error) => () => {
    database.prepare('INSERT INTO effects VALUES (?)').run('a')
    trace.length = 0
    if (end instanceof Error) throw end
    return end
  }
  const dieAfterRollback = (): void => {
    dies = true
  }
  const store = sqliteLedger({ database }) as unknown as LedgerStore
  const elsewhere = sqliteLedger({ database: other }) as unknown as LedgerStore
  return { store, elsewhere, database, other, effects, work, trace, dieAfterRollback }
}

describe('an effect in SQLite whose work is rolled back', () => {
  it('records a 4xx in a second transaction, without a savepoint', async () => {
    const { store, work, trace, effects } = scene()
    expect(await transacted(store, transact(await claimed(store, 'a'), work(ROLLED_BACK)))).toBe('recorded')
    expect(trace).toEqual(['ROLLBACK', 'UPDATE done'])
    expect([(await entryAt(store, 'a')).answer?.status, effects()]).toEqual([422, 0])
  })

  it('frees the key after a transient answer', async () => {
    const { store, work, trace, effects } = scene()
    expect(await transacted(store, transact(await claimed(store, 'a'), work(RELEASED)))).toBe('released')
    expect(trace).toEqual(['ROLLBACK', 'DELETE '])
    expect([await stateOf(store, 'a'), effects()]).toEqual(['absent', 0])
  })

  it('keeps its claim after a throw', async () => {
    const { store, work, trace, effects } = scene()
    const broken = new Error('broken')
    const ended = transacted(store, transact(await claimed(store, 'a'), work(broken)))
    expect(await ended.catch((error: unknown) => error)).toBe(broken)
    expect(trace).toEqual(['ROLLBACK'])
    expect([await stateOf(store, 'a'), effects()]).toEqual(['running', 0])
  })

  it('records nothing, and commits nothing, under a claim that was lost', async () => {
    const { store, elsewhere, work, effects } = scene()
    const old = await claimed(store, 'a', LAPSED)
    await elsewhere.takeOver(await entryAt(elsewhere, 'a'), draft('a'))
    for (const end of [COMMITTED, ROLLED_BACK, RELEASED]) {
      expect(await transacted(store, transact(old, work(end)))).toBe('lost')
    }
    expect([await stateOf(store, 'a'), effects()]).toEqual(['running', 0])
  })

  it.each([
    ['a 4xx', ROLLED_BACK],
    ['a throw', new Error('broken')],
  ])('after %s: a crash before the second transaction leaves the key to the next process', async (_, end) => {
    const { store, elsewhere, other, effects, work, trace, dieAfterRollback } = scene()
    const claim = await claimed(store, 'a')
    dieAfterRollback()
    expect(await rejection(transacted(store, transact(claim, work(end))))).toBeInstanceOf(Error)
    expect(trace[0]).toBe('ROLLBACK')
    endRunner((other.prepare('SELECT owner FROM holdfast_entries').get() as { owner: string }).owner)
    const left = await met(elsewhere, 'a')
    expect([left.owner, left.entry.state, effects()]).toEqual(['gone', 'running', 0])
    const next = await elsewhere.takeOver(left.entry, draft('a'))
    expect(next?.attempt).toBe(2)
    const again = () => {
      other.prepare('INSERT INTO effects VALUES (?)').run('a')
      return COMMITTED
    }
    expect(await transacted(elsewhere, transact(next ?? null, again))).toBe('recorded')
    expect([await stateOf(elsewhere, 'a'), effects()]).toEqual(['done', 1])
  })
})
