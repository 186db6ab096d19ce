import { randomUUID } from 'node:crypto'
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

const open = (policy?: string): Promise<JournalTab> => JournalTab.open(browser, pages, policy)

describe('transactions in Chromium', () => {
  it('are strict for acceptance and settlement and relaxed for a renewal', async () => {
    const tab = await open()
    expect(await tab.ask('level', 'strict')).toBe('power')
    await tab.page.evaluate(() => {
      const seen: string[] = []
      const make = IDBDatabase.prototype.transaction
      IDBDatabase.prototype.transaction = function (...args) {
        const transaction = make.apply(this, args)
        seen.push(`${transaction.mode} ${transaction.durability}`)
        return transaction
      }
      Object.assign(globalThis, { seen })
    })
    await tab.ask('hold', 'strict', 'a')
    await tab.ask('renew', 'strict', 'a')
    await tab.ask('settle', 'strict', 'a')
    // Each has asked for the level before, in a transaction of its own.
    const seen = await tab.page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)
    expect(seen.filter((words) => words.startsWith('readwrite'))).toEqual([
      'readwrite strict',
      'readwrite relaxed',
      'readwrite strict',
    ])
  })

  it('are acknowledged when they are complete, not when their requests have succeeded', async () => {
    const tab = await open()
    await tab.ask('append', 'aborted', ['before'])
    await tab.page.evaluate(() => {
      const put = IDBObjectStore.prototype.put
      IDBObjectStore.prototype.put = function (...args) {
        const request = put.apply(this, args)
        request.addEventListener('success', () => this.transaction.abort())
        IDBObjectStore.prototype.put = put
        return request
      }
    })
    expect(await tab.ask('append', 'aborted', ['a'])).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'unknown' })
    expect(await tab.ask('keys', 'aborted')).toBe('before')
  })

  it('let each row be claimed once, though two tabs claim at the same time', async () => {
    const [one, two] = await Promise.all([open(), open()])
    // In a database of its own: a second try of this test finds no rows that the first has claimed.
    const name = `shared ${randomUUID()}`
    const keys = Array.from({ length: 120 }, (_, at) => `k${at}`)
    await one.ask('append', name, keys)
    const claimed = await Promise.all([one.ask('drain', name, 'one'), two.ask('drain', name, 'two')])
    // How many each of them gets is a matter of luck.
    expect(claimed.flat().sort()).toEqual(keys.sort())
  })

  it('that find no room write nothing and say so; when there is room again, work goes on', async () => {
    // A browser that has written for this site before goes on for some seconds with what it knew then.
    const fresh = await launch()
    const tab = await JournalTab.open(fresh, pages)
    const session = await fresh.context.newCDPSession(tab.page)
    const { origin } = pages
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 2_000_000 })
    expect(await tab.ask('append', 'full', ['before'])).toEqual([{ appended: true }])
    const failure = await tab.ask('appendLarge', 'full', 'large', 6_000_000)
    expect(failure).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'none' })
    expect((failure as { message: string }).message).toMatch(/quota for this site is used up/)
    expect(await tab.ask('keys', 'full')).toBe('before')
    await session.send('Storage.overrideQuotaForOrigin', { origin })
    expect(await tab.ask('appendLarge', 'full', 'large', 6_000_000)).toEqual([{ appended: true }])
  })

  it('lead to one wish to keep the data', async () => {
    const tab = await open()
    await tab.page.evaluate(() => {
      Object.assign(globalThis, { wishes: 0 })
      navigator.storage.persist = async () => {
        ;(globalThis as unknown as { wishes: number }).wishes++
        throw new Error('Nobody waits for this')
      }
    })
    const wishes = (): Promise<number> => tab.page.evaluate(() => (globalThis as unknown as { wishes: number }).wishes)
    await tab.ask('keys', 'kept')
    expect(await wishes()).toBe(0)
    await tab.ask('append', 'kept', ['a'])
    await tab.ask('append', 'kept', ['b'])
    expect(await wishes()).toBe(1)
  })

  it('are refused with a sentence where a page may not store anything', async () => {
    const tab = await open('sandbox allow-scripts')
    const failure = await tab.ask('level', 'forbidden')
    expect(failure).toMatchObject({ code: 'HOLDFAST_STORAGE', effect: 'none' })
    expect((failure as { message: string }).message).toMatch(/the browser refuses storage to this page/)
  })
})
