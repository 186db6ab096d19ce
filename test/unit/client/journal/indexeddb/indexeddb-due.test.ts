import { describe, expect, it, vi } from 'vitest'
import type { Journal, JournalRow } from '../../../../../src/client/journal/port.ts'
import { append, claim, NOW, row, SPACE } from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { emptyBrowser, NAME, openJournal } from './scratch.ts'

emptyBrowser()

async function nextDue(journal: Journal, exceptOrigins: readonly string[] = []): Promise<unknown> {
  const [due] = await journal.execute([{ do: 'next-due', namespace: SPACE, deliverNames: [], exceptOrigins }])
  return due
}

const ORIGINS = ['https://a.example', 'https://b.example', 'https://c.example']

describe('the next due time', () => {
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
    expect(one.mock.calls.length).toBeLessThanOrEqual(3 * (ORIGINS.length + 1))
  })

  it('follows what is claimed, and what no version of ours can read is not in the way', async () => {
    const journal = await openJournal()
    await journal.execute([append('a', { dueAt: 5 }), append('b', { dueAt: 7 }), append('new', { version: 99 })])
    expect(await nextDue(journal)).toBe(5)
    await journal.execute([claim({ limit: 1 })])
    expect(await nextDue(journal)).toBe(7)
  })
})

/** The database as the first release made it. */
async function firstRelease(rows: readonly JournalRow[]): Promise<void> {
  const request = indexedDB.open(NAME, 1)
  request.onupgradeneeded = () => {
    const database = request.result
    const records = database.createObjectStore('records', { keyPath: ['namespace', 'key'] })
    records.createIndex('id', ['namespace', 'id'], { unique: true })
    records.createIndex('all', ['namespace', 'place'])
    records.createIndex('open', ['namespace', 'openAt'])
    records.createIndex('expiry', 'prunableAt')
    const bodies = database.createObjectStore('bodies', { autoIncrement: true })
    database.createObjectStore('answers')
    rows.forEach((kept, at) => {
      const place = at + 1
      bodies.add(kept.body)
      records.add({ ...kept, body: null, responseBody: null, place, openAt: place, prunableAt: null, setAside: false })
    })
  }
  await new Promise((resolve, reject) => {
    request.onsuccess = resolve
    request.onerror = reject
  })
  request.result.close()
}

it('a database of the first release is brought up to date, and loses nothing', async () => {
  await firstRelease([row('a', { dueAt: 9 }), row('b', { dueAt: 4, origin: String(ORIGINS[1]) })])
  const journal = await openJournal()
  expect(await nextDue(journal)).toBe(4)
  expect(await nextDue(journal, [String(ORIGINS[1])])).toBe(9)
  const [claimed] = await journal.execute([claim({ dueBy: NOW })])
  expect(claimed).toMatchObject([
    { key: 'a', body: row('a').body },
    { key: 'b', body: row('b').body },
  ])
})
