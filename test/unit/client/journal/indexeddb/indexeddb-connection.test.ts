import { forceCloseDatabase } from 'fake-indexeddb'
import { describe, expect, it, vi } from 'vitest'
import {
  append,
  claimCommand,
  commit,
  held,
  list,
  read,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { manualClock } from '../../../../../src/testing/manual-clock.ts'
import { connect, emptyBrowser, failureOf, NAME, onTransaction, openJournal } from './scratch.ts'

emptyBrowser()

const failing = (name: string): DOMException => new DOMException('Somebody stumbled over a cable', name)

function countOpenings(): { count: number } {
  const counted = { count: 0 }
  const open = indexedDB.open.bind(indexedDB)
  indexedDB.open = (...args) => {
    counted.count++
    return open(...args)
  }
  return counted
}

/** It is written down, but the connection goes before that is told. */
function loseAtTheEnd(transaction: IDBTransaction): void {
  Object.defineProperty(transaction, 'oncomplete', { set: () => {} })
  transaction.addEventListener('complete', (event) => transaction.onabort?.(event))
}

describe('a browser without storage', () => {
  it('is told apart: there is no IndexedDB', async () => {
    vi.stubGlobal('indexedDB', undefined)
    expect((await failureOf(openJournal())).message).toMatch(
      /^There is no IndexedDB here .*journal: \{ fallback: 'memory' \}$/,
    )
  })

  it.each([
    ['SecurityError', /the browser refuses storage to this page/],
    ['UnknownError', /^The journal scratch failed: Somebody stumbled/],
    ['InvalidStateError', /^The journal scratch failed: Somebody stumbled/],
  ])('is told apart: opening throws %s', async (name, sentence) => {
    const cause = failing(name)
    indexedDB.open = () => {
      throw cause
    }
    const failure = await failureOf(openJournal())
    expect(failure.message).toMatch(sentence)
    expect(failure).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'none', cause })
  })
})

describe('a connection that is lost', () => {
  it.each(['InvalidStateError', 'UnknownError'])('by %s is replaced, and the batch goes through', async (name) => {
    const journal = await openJournal()
    const openings = countOpenings()
    onTransaction((_, number) => {
      if (number <= 3) throw failing(name)
    })
    expect(await journal.execute([append('a')])).toEqual([{ appended: true }])
    expect(openings.count).toBe(3)
  })

  it('that the browser has closed is known to be, so that no batch stumbles over it', async () => {
    const journal = await openJournal()
    const connections: IDBDatabase[] = []
    onTransaction(({ db }) => connections.push(db))
    await journal.execute([append('a')])
    // Fires `close`, as a browser does when the data of the site is cleared.
    forceCloseDatabase(connections[0] as never)
    await new Promise((resolve) => setImmediate(resolve))
    const tried = vi.mocked(IDBDatabase.prototype.transaction).mock.contexts.length
    expect(await journal.execute([append('b')])).toEqual([{ appended: true }])
    expect(vi.mocked(IDBDatabase.prototype.transaction).mock.contexts.length).toBe(tried + 1)
  })

  it('is replaced three times for one batch and then reported; the next batch starts afresh', async () => {
    const journal = await openJournal()
    const openings = countOpenings()
    onTransaction((_, number) => {
      if (number <= 4) throw failing('InvalidStateError')
    })
    const failure = await failureOf(journal.execute([append('a')]))
    expect(failure).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'none' })
    expect(openings.count).toBe(3)
    expect(await journal.execute([append('a')])).toEqual([{ appended: true }])
  })

  it('in the middle of a batch has written nothing, so the batch is run again', async () => {
    const journal = await openJournal()
    onTransaction((transaction, number) => {
      if (number === 1) transaction.abort()
    })
    expect(await journal.execute([append('a'), append('b')])).toEqual([{ appended: true }, { appended: true }])
  })

  it('while a batch is written down leaves its fate unknown, and nothing is tried again', async () => {
    const journal = await openJournal()
    const openings = countOpenings()
    let transactions = 0
    onTransaction((transaction) => {
      transactions++
      loseAtTheEnd(transaction)
    })
    const failure = await failureOf(journal.execute([append('a')]))
    expect(failure).toMatchObject({ effect: 'unknown', message: expect.stringContaining('may or may not be on disk') })
    expect([transactions, openings.count]).toEqual([1, 0])
    vi.restoreAllMocks()
    expect((await journal.execute([append('a')]))[0]).toMatchObject({ appended: false })
  })

  it('while a batch only reads costs nothing but another look', async () => {
    const journal = await openJournal()
    await journal.execute([append('a')])
    onTransaction((transaction, number) => {
      if (number === 1) loseAtTheEnd(transaction)
    })
    expect(await journal.execute([read('a')])).toMatchObject([{ key: 'a' }])
  })

  it('is not brought back by a batch that ends after the journal was closed', async () => {
    const journal = await openJournal()
    const openings = countOpenings()
    onTransaction(() => {
      void journal.close()
      throw failing('InvalidStateError')
    })
    await failureOf(journal.execute([append('a')]))
    expect(openings.count).toBe(0)
    expect((await failureOf(journal.execute([append('a')]))).message).toBe('The journal is not open')
  })
})

describe('a database that others change', () => {
  it('is let go at once where another page deletes it; what follows meets an empty one', async () => {
    const journal = await openJournal()
    await journal.execute([held('a')])
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(NAME)
      request.onsuccess = resolve
      request.onblocked = reject
    })
    expect(await journal.execute([commit('a'), list()])).toEqual([false, []])
    expect(await journal.execute([append('a')])).toEqual([{ appended: true }])
  })

  it('is let go at once where another page brings a newer version, and then left alone', async () => {
    const journal = await openJournal()
    await journal.execute([append('a')])
    const newer = await connect(5)
    const failure = await failureOf(journal.execute([claimCommand()]))
    expect(failure.message).toMatch(/written by a newer Holdfast. Nothing was changed: update this page/)
    expect(failure.effect).toBe('none')
    expect([newer.version, ...newer.objectStoreNames]).toEqual([5, 'answers', 'bodies', 'records'])
  })

  it('and that is somebody else is refused when it is opened', async () => {
    const theirs = await connect(1)
    theirs.close()
    expect((await failureOf(openJournal())).message).toMatch(/is not a database of Holdfast. It was left as it is/)
  })

  it('and blocked for 5 s is a failure; whoever comes too late stays in nobody’s way', async () => {
    const stubborn = await connect(1)
    const deleted = new Promise((resolve) => {
      indexedDB.deleteDatabase(NAME).onsuccess = resolve
    })
    const clock = manualClock()
    const failure = failureOf(openJournal(clock))
    await clock.advance(4_999)
    expect(clock.pending()).toBe(1)
    await clock.advance(1)
    expect((await failure).message).toMatch(/did not open within 5 s: another tab seems to block it/)
    stubborn.close()
    await deleted
    const newer = await connect(9)
    expect(newer.version).toBe(9)
  })

  it('leaves no timer behind', async () => {
    const clock = manualClock()
    await openJournal(clock)
    expect(clock.pending()).toBe(0)
  })
})
