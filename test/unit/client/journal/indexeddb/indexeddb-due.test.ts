import { describe, expect, it, vi } from 'vitest'
import type { Journal, JournalRow, SurveyResult } from '../../../../../src/client/journal/port.ts'
import {
  append,
  claimCommand,
  held,
  inLane,
  NOW,
  row,
  surveyCommand,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { emptyBrowser, NAME, openJournal } from './scratch.ts'

emptyBrowser()

async function nextDue(journal: Journal, exceptOrigins: readonly string[] = []): Promise<unknown> {
  const [result] = await journal.execute([surveyCommand({ exceptOrigins })])
  return (result as SurveyResult).nextDueAt
}

const ORIGINS = ['https://a.example', 'https://b.example', 'https://c.example']

describe('a survey', () => {
  it('costs one row per origin, however many operations are pending', async () => {
    const journal = await openJournal()
    const rows = Array.from({ length: 600 }, (_, n) =>
      append(`k${n}`, { origin: String(ORIGINS[n % 3]), dueAt: NOW + n }),
    )
    await journal.execute(rows)
    const many = vi.spyOn(IDBIndex.prototype, 'getAll')
    const one = vi.spyOn(IDBIndex.prototype, 'get')
    expect(await nextDue(journal)).toBe(NOW)
    expect(await nextDue(journal, ORIGINS.slice(0, 2))).toBe(NOW + 2)
    expect(await nextDue(journal, ORIGINS)).toBeUndefined()
    expect(many).not.toHaveBeenCalled()
    // One row for each origin, and two looks that find the end of an index.
    expect(one.mock.calls.length).toBeLessThanOrEqual(3 * (ORIGINS.length + 2))
  })

  it('costs one more row per lane, however many operations wait in it', async () => {
    const journal = await openJournal()
    await journal.execute(
      Array.from({ length: 600 }, (_, n) => inLane(`k${n}`, `lane ${n % 3}`, { dueAt: 9 - (n % 3) })),
    )
    const many = vi.spyOn(IDBIndex.prototype, 'getAll')
    const one = vi.spyOn(IDBIndex.prototype, 'get')
    expect(await nextDue(journal)).toBe(7)
    expect(many).not.toHaveBeenCalled()
    expect(one.mock.calls.length).toBeLessThanOrEqual(3 + 1 + 2 + 1)
  })

  it('costs three looks per owner, however many leases are in force', async () => {
    const journal = await openJournal()
    const rows = Array.from({ length: 600 }, (_, n) => {
      return held(`k${n}`, { owner: `runner ${n % 3}`, leaseUntil: NOW + (n % 3) * 10 - (n < 3 ? 99 : 0) })
    })
    await journal.execute(rows)
    const many = vi.spyOn(IDBIndex.prototype, 'getAll')
    const one = vi.spyOn(IDBIndex.prototype, 'get')
    const [result] = await journal.execute([surveyCommand()])
    expect((result as SurveyResult).owners).toEqual(['runner 1', 'runner 2'])
    expect(many).not.toHaveBeenCalled()
    expect(one.mock.calls.length).toBeLessThanOrEqual(3 * 3 + 2)
  })

  it('follows what is claimed, and what no version of ours can read is not in the way', async () => {
    const journal = await openJournal()
    await journal.execute([append('a', { dueAt: 5 }), append('b', { dueAt: 7 }), append('new', { version: 99 })])
    expect(await nextDue(journal)).toBe(5)
    await journal.execute([claimCommand({ limit: 1 })])
    expect(await nextDue(journal)).toBe(7)
  })
})

it('a claim looks for the first of a lane once, however many operations wait in it', async () => {
  const journal = await openJournal()
  const lanes = Array.from({ length: 600 }, (_, n) => inLane(`k${n}`, `lane ${n % 3}`))
  await journal.execute([...lanes, append('plain')])
  const one = vi.spyOn(IDBIndex.prototype, 'get')
  const [claimed] = await journal.execute([claimCommand()])
  expect(claimed).toMatchObject([{ key: 'k0' }, { key: 'k1' }, { key: 'k2' }, { key: 'plain' }])
  expect(one).toHaveBeenCalledTimes(3)
})

/** The database as an earlier version made it. */
async function databaseOf(version: 1 | 2 | 3, rows: readonly JournalRow[]): Promise<void> {
  const request = indexedDB.open(NAME, version)
  request.onupgradeneeded = () => {
    const database = request.result
    const records = database.createObjectStore('records', { keyPath: ['namespace', 'key'] })
    records.createIndex('id', ['namespace', 'id'], { unique: true })
    records.createIndex('all', ['namespace', 'place'])
    records.createIndex('open', ['namespace', 'openAt'])
    records.createIndex('expiry', 'prunableAt')
    if (version >= 2) records.createIndex('due', ['namespace', 'dueKind', 'claimableAt'])
    if (version === 3) records.createIndex('lease', ['namespace', 'owner', 'leaseUntil'])
    const bodies = database.createObjectStore('bodies', { autoIncrement: true })
    database.createObjectStore('answers')
    rows.forEach(({ lane: _, laneUntil: __, ...kept }, at) => {
      const place = at + 1
      bodies.add(kept.body)
      const indexed = { place, openAt: place, prunableAt: null, setAside: false }
      const due = { dueKind: JSON.stringify([1, kept.origin]), claimableAt: Math.max(kept.dueAt, kept.leaseUntil) }
      records.add({ ...kept, body: null, responseBody: null, ...indexed, ...(version >= 2 && due) })
    })
  }
  await new Promise((resolve, reject) => {
    request.onsuccess = resolve
    request.onerror = reject
  })
  request.result.close()
}

it.each([1, 2, 3] as const)('a database of version %i is brought up to date, and loses nothing', async (version) => {
  const lease = { owner: 'me', leaseUntil: NOW + 1 }
  await databaseOf(version, [
    row('a', { dueAt: 9 }),
    row('b', { dueAt: 4, origin: String(ORIGINS[1]) }),
    row('c', lease),
  ])
  const journal = await openJournal()
  expect(await journal.execute([surveyCommand()])).toEqual([{ owners: ['me'], nextDueAt: 4 }])
  expect(await nextDue(journal, [String(ORIGINS[1])])).toBe(9)
  const [claimed] = await journal.execute([claimCommand({ dueBy: NOW })])
  expect(claimed).toMatchObject([
    { key: 'a', body: row('a').body },
    { key: 'b', body: row('b').body },
  ])
})
