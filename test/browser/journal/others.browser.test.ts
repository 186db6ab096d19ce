import { beforeAll, describe, expect, it } from 'vitest'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { Pages } from '../support/serve-pages.ts'
import { JournalTab, serveJournalPages } from './journal-tab.ts'

let browser: TestBrowser
let pages: Pages

beforeAll(async () => {
  pages = await serveJournalPages()
  browser = await launch()
})

const open = (): Promise<JournalTab> => JournalTab.open(browser, pages)

/** How another page's wish to delete the database ends. */
const deleted = (tab: JournalTab, name: string): Promise<string> =>
  tab.page.evaluate((database) => {
    return new Promise<string>((resolve) => {
      const request = indexedDB.deleteDatabase(database)
      request.onsuccess = () => resolve('deleted')
      request.onblocked = () => resolve('blocked')
    })
  }, name)

/** A connection that does not react to anybody's wishes. */
const holdOn = (tab: JournalTab, name: string, version?: number): Promise<number> =>
  tab.page.evaluate(
    ([database, wanted]) => {
      return new Promise<number>((resolve, reject) => {
        const request = indexedDB.open(database, wanted)
        request.onblocked = () => reject(new Error('blocked'))
        request.onerror = () => reject(request.error)
        request.onsuccess = () => {
          Object.assign(globalThis, { held: request.result })
          resolve(request.result.version)
        }
      })
    },
    [name, version] as const,
  )

describe('the journal in Chromium, with others around', () => {
  it('lets another page delete the database at once, notices, and works on', async () => {
    const [tab, other] = [await open(), await open()]
    await tab.ask('hold', 'deleted', 'a')
    expect(await deleted(other, 'deleted')).toBe('deleted')
    expect(await tab.ask('settle', 'deleted', 'a')).toEqual([false])
    expect(await tab.ask('append', 'deleted', ['b'])).toEqual([{ appended: true }])
    expect(await other.ask('keys', 'deleted')).toBe('b')
  })

  it('notices that the data of the site was cleared, and works on', async () => {
    const tab = await open()
    await tab.ask('hold', 'cleared', 'a')
    const session = await browser.context.newCDPSession(tab.page)
    await session.send('Storage.clearDataForOrigin', { origin: pages.origin, storageTypes: 'indexeddb' })
    expect(await tab.ask('settle', 'cleared', 'a')).toEqual([false])
    expect(await tab.ask('append', 'cleared', ['b'])).toEqual([{ appended: true }])
    expect(await tab.ask('keys', 'cleared')).toBe('b')
  })

  it('makes way for a newer version and leaves its data alone', async () => {
    const [tab, newer] = [await open(), await open()]
    await tab.ask('append', 'upgraded', ['a'])
    expect(await holdOn(newer, 'upgraded', 5)).toBe(5)
    const failure = (await tab.ask('append', 'upgraded', ['b'])) as { message: string }
    expect(failure).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'none' })
    expect(failure.message).toMatch(/written by a newer Holdfast/)
  })

  it('gives up opening after 5 s where another page is in the way, and opens when it is gone', async () => {
    const [tab, stubborn] = [await open(), await open()]
    await holdOn(stubborn, 'blocked')
    expect(await deleted(stubborn, 'blocked')).toBe('blocked')
    const start = Date.now()
    const failure = (await tab.ask('level', 'blocked')) as { message: string }
    expect(failure.message).toMatch(/did not open within 5 s: another tab seems to block it/)
    expect(Date.now() - start).toBeGreaterThanOrEqual(4_900)
    await stubborn.page.close()
    expect(await tab.ask('append', 'blocked', ['a'])).toEqual([{ appended: true }])
  })
})
