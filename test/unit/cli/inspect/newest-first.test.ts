import { describe, expect, it } from 'vitest'
import { type BackwardQuery, NewestFirst } from '../../../../src/cli/inspect/newest-first.ts'
import type { PlacedRecord } from '../../../../src/client/journal/record-keeper.ts'
import { freshRecord } from '../../../support/shared-record.ts'

interface Shelf {
  readonly newest: NewestFirst
  readonly read: () => number
  add(place: number): void
}

/** A journal with records at these places; those at a multiple of 1000 have failed. */
function shelf(places: readonly number[]): Shelf {
  const all = places.map(recordAt)
  let read = 0
  const keeper = {
    open: async () => {},
    list: async ({ after, limit, status }: { after: number; limit: number; status?: string | undefined }) => {
      const fitting = all.filter(
        ({ place, record }) => place > after && (status === undefined || record.status === status),
      )
      const records = fitting.slice(0, limit)
      read += records.length
      return { records, last: records.at(-1)?.place ?? after, more: records.length === limit }
    },
  }
  const add = (place: number): void => void all.push(recordAt(place))
  return { newest: new NewestFirst(keeper, 'default'), read: () => read, add }
}

function recordAt(place: number): PlacedRecord {
  return { place, record: freshRecord({ key: `k${place}`, status: place % 1000 === 0 ? 'failed' : 'pending' }) }
}

const everything: BackwardQuery = { status: undefined, before: undefined, limit: 50, matches: () => true }
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

/** All places, page by page. */
async function pages({ newest }: Shelf, query: BackwardQuery): Promise<number[]> {
  const found: number[] = []
  for (let before: number | undefined; ; ) {
    const page = await newest.page({ ...query, before })
    found.push(...page.found.map(({ place }) => place))
    if (page.next === undefined) return found
    before = page.next
  }
}

describe('a journal read from its newest record', () => {
  it.each([
    ['none', []],
    ['one', [1]],
    ['one far away', [70_000]],
    ['a page', range(1, 51)],
    ['a page and one', range(1, 52)],
    ['many', range(1, 2345)],
    ['some, then a gap, then many', [...range(5, 20), ...range(40_000, 40_777)]],
    ['many, then a gap, then some', [...range(1, 900), ...range(90_000, 90_003)]],
    ['every hundredth', range(1, 300).map((place) => place * 100)],
  ])('gives each record once, newest first: %s', async (_, places) => {
    expect(await pages(shelf(places), everything)).toEqual([...places].reverse())
    expect(await pages(shelf(places), { ...everything, limit: 7 })).toEqual([...places].reverse())
  })

  it('gives those of a status', async () => {
    const places = range(1, 5001)
    expect(await pages(shelf(places), { ...everything, status: 'failed' })).toEqual([5000, 4000, 3000, 2000, 1000])
  })

  it('sees what came since the last look', async () => {
    const { newest, add } = shelf(range(1, 100))
    await newest.page(everything)
    add(100)
    add(200)
    const { found } = await newest.page({ ...everything, limit: 3 })
    expect(found.map(({ place }) => place)).toEqual([200, 100, 99])
  })

  it('reads little for a page, and less the second time', async () => {
    const { newest, read } = shelf(range(1, 10_001))
    await newest.page(everything)
    const first = read()
    expect(first).toBeLessThan(200)
    await newest.page(everything)
    expect(read() - first).toBeLessThan(110)
  })

  it('gives up a search after some thousands, and says where to go on', async () => {
    const { newest } = shelf(range(1, 8001))
    const { found, next, looked } = await newest.page({ ...everything, matches: ({ key }) => key === 'k1' })
    expect(found).toEqual([])
    expect([next, looked]).toEqual([3001, 5000])
  })
})
