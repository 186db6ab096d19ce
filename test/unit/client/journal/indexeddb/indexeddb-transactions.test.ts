import { promisifyRequest } from 'idb-keyval'
import { describe, expect, it, vi } from 'vitest'
import { indexedDbJournal } from '../../../../../src/client/journal/indexeddb/indexeddb-journal.ts'
import {
  append,
  change,
  claimCommand,
  commit,
  held,
  list,
  NOW,
  prune,
  read,
  remove,
  renew,
  SPACE,
  surveyCommand,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { connect, emptyBrowser, failureOf, NAME, onTransaction, openJournal } from './scratch.ts'

emptyBrowser()

describe('a batch', () => {
  it.each([
    ['an acceptance', 'readwrite strict', [append('x')]],
    ['a settlement', 'readwrite strict', [commit('a')]],
    ['a claim', 'readwrite strict', [claimCommand()]],
    ['lease renewals', 'readwrite relaxed', [renew('a', NOW), read('a'), renew('b', NOW)]],
    ['a renewal beside an acceptance', 'readwrite strict', [renew('a', NOW), append('x')]],
    ['reading', 'readonly relaxed', [read('a'), list(), surveyCommand()]],
  ] as const)('with %s is one transaction: %s', async (_, expected, commands) => {
    const journal = await openJournal()
    await journal.execute([held('a')])
    const seen: string[] = []
    onTransaction(({ mode, durability }) => seen.push(`${mode} ${durability}`))
    await journal.execute(commands)
    expect(seen).toEqual([expected])
  })

  it('is never strict where less was asked for, and the level says so', async () => {
    const journal = indexedDbJournal({ name: NAME, durability: 'relaxed' })
    await journal.open()
    const seen: string[] = []
    onTransaction(({ durability }) => seen.push(durability))
    await journal.execute([append('a')])
    expect([journal.level, ...seen]).toEqual(['process', 'relaxed'])
  })

  it('that has nothing to do begins no transaction', async () => {
    const journal = await openJournal()
    const seen: IDBTransaction[] = []
    onTransaction((transaction) => seen.push(transaction))
    expect(await journal.execute([])).toEqual([])
    expect(seen).toEqual([])
  })

  it('is not acknowledged before its transaction is complete, however many requests succeeded', async () => {
    const journal = await openJournal()
    onTransaction((transaction) => {
      const records = transaction.objectStore('records')
      const put = records.put.bind(records)
      vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce((value, key) => {
        const request = put(value, key)
        // Everything is in, and now the disk turns out to be full.
        request.addEventListener('success', () => transaction.abort())
        return request
      })
    })
    await failureOf(journal.execute([append('a')]))
    vi.restoreAllMocks()
    expect(await journal.execute([list()])).toEqual([[]])
  })

  it('loads no body to find what is due or who holds what', async () => {
    const journal = await openJournal()
    await journal.execute([held('a'), append('b', { dueAt: NOW + 1 })])
    const loaded: string[] = []
    const get = IDBObjectStore.prototype.get
    vi.spyOn(IDBObjectStore.prototype, 'get').mockImplementation(function (this: IDBObjectStore, key) {
      loaded.push(this.name)
      return get.call(this, key)
    })
    await journal.execute([surveyCommand(), claimCommand()])
    expect(loaded).toEqual([])
    expect(await journal.execute([claimCommand({ dueBy: NOW + 1 })])).toMatchObject([[{ key: 'b' }]])
    expect(loaded).toEqual(['bodies', 'answers'])
  })

  /** What is in the stores. */
  const kept = async (): Promise<unknown[][]> => {
    const database = await connect()
    const transaction = database.transaction(['records', 'bodies', 'answers'])
    const all = ['records', 'bodies', 'answers'].map((name) => promisifyRequest(transaction.objectStore(name).getAll()))
    const found = await Promise.all(all)
    database.close()
    return found
  }

  it('keeps the bytes that a view shows and not what else is in its buffer', async () => {
    const journal = await openJournal()
    const view = (): Uint8Array => new Uint8Array(1000).subarray(5, 8)
    await journal.execute([append('a', { body: view(), responseBody: view() })])
    const [, bodies, answers] = (await kept()) as [unknown, Uint8Array[], Uint8Array[]]
    expect([...bodies, ...answers].map((bytes) => bytes.buffer.byteLength)).toEqual([3, 3])
  })

  it('leaves nothing of a row behind that it drops', async () => {
    const journal = await openJournal()
    const full = { responseBody: new Uint8Array([1]), expiresAt: NOW }
    await journal.execute([held('a', full), append('b', full), remove('a'), prune(NOW, 9)])
    await journal.execute([append('c', full), { do: 'drop', namespace: SPACE }])
    expect(await kept()).toEqual([[], [], []])
  })

  it('takes an answer away that a commit no longer has', async () => {
    const journal = await openJournal()
    await journal.execute([held('a', { responseBody: new Uint8Array([1]) })])
    await journal.execute([{ ...commit('a'), change: change({ responseBody: null }) }])
    expect(await journal.execute([read('a')])).toMatchObject([{ responseBody: null }])
  })

  it('looks through more rows than fit on a page', async () => {
    const journal = await openJournal()
    const rows = Array.from({ length: 250 }, (_, at) => append(`k${at}`, { dueAt: at < 249 ? NOW + 1 : NOW }))
    await journal.execute(rows)
    expect(await journal.execute([claimCommand()])).toMatchObject([[{ key: 'k249' }]])
    expect((await journal.execute([list({ limit: 1000 })]))[0]).toHaveLength(250)
    expect(await journal.execute([{ do: 'drop', namespace: SPACE }])).toEqual([250])
  })
})

describe('the durability that a journal claims', () => {
  it('is the process alone where the browser does not know strict transactions', async () => {
    onTransaction((transaction) => Object.assign(transaction, { durability: undefined }))
    expect((await openJournal()).level).toBe('process')
  })

  it('is power by default', async () => {
    expect((await openJournal()).level).toBe('power')
  })

  it.each([[{ name: '' }], [{ name: 5 }], [{ durability: 'full' }]])('%j is refused', (options) => {
    expect(() => indexedDbJournal(options as object)).toThrow(/`indexedDbJournal\.(name|durability)`/)
  })
})

describe('the wish to keep the data', () => {
  it('is told to the browser once, when there is something to keep', async () => {
    const persist = vi.fn(async () => false)
    vi.stubGlobal('navigator', { storage: { persist } })
    const journal = await openJournal()
    await journal.execute([list(), claimCommand()])
    expect(persist).toHaveBeenCalledTimes(0)
    await journal.execute([append('a')])
    await journal.execute([append('b')])
    expect(persist).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['refuses', { storage: { persist: () => Promise.reject(new Error('no')) } }],
    [
      'throws',
      {
        storage: {
          persist: () => {
            throw new Error('no')
          },
        },
      },
    ],
    ['never answers', { storage: { persist: () => new Promise(() => {}) } }],
    ['does not know it', {}],
    ['has no navigator', undefined],
  ])('hurts nobody where the browser %s', async (_, navigator) => {
    vi.stubGlobal('navigator', navigator)
    const journal = await openJournal()
    expect(await journal.execute([append('a')])).toEqual([{ appended: true }])
  })
})
