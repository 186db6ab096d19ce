import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from './support/counting-api.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import type { PageClientOptions } from './support/page-driver.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from './support/tab.ts'

/** Longer than a lease: who resumes has waited for the dead runner's to lapse. */
const LATER_MS = 31_000

interface Scene {
  readonly api: CountingApi
  readonly url: string
  readonly tab: Tab
}

async function scene(browser: TestBrowser): Promise<Scene> {
  const pages = await servePages()
  const api = await countingApi()
  const url = pages.origin + pages.page()
  return { api, url, tab: await openTab(browser, url) }
}

const client = (tab: Tab, api: CountingApi, more: PageClientOptions = {}): Promise<PageClient> =>
  tab.createClient({ baseUrl: api.origin, ...more })

const charge = { json: { amount: 5000, note: 'Grüße' }, name: 'charge' }

const points = [
  { when: 'before the server worked', fate: 'hang', effects: 0 },
  { when: 'after the server worked', fate: 'work-and-hang', effects: 1 },
] as const

/** One key, one body, one effect, although there were two requests. */
function expectOnce(api: CountingApi, key: string): void {
  expect([...api.keys.keys()]).toEqual([key])
  expect(api.only).toMatchObject({ requests: 2, effects: 1 })
  expect(api.only.hashes.size).toBe(1)
  expect(api.complaints).toEqual([])
}

describe('an operation in IndexedDB', () => {
  let browser: TestBrowser
  beforeAll(async () => {
    browser = await launch()
  })

  it('is durable before it is sent, and its record stays for a while once the caller has its answer', async () => {
    const { api, tab } = await scene(browser)
    const shop = await client(tab, api)
    api.next('hang')
    const call = await shop.post('/charges', { json: charge.json })
    expect(await call.accepted()).toBe('power')
    expect(await tab.ask('keys', shop.number)).toEqual([call.key])
    await api.until(({ requests }) => requests === 1)
    api.release()
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    await tab.ask('flush', shop.number)
    expect(await tab.ask('keys', shop.number)).toEqual([call.key])
  })

  it.each(points)('is finished after a reload of the page $when', async ({ fate, effects }) => {
    const { api, tab } = await scene(browser)
    const shop = await client(tab, api)
    api.next(fate)
    const call = await shop.post('/charges', charge)
    await api.until((counted) => counted.requests === 1)
    expect(api.effects).toBe(effects)

    await tab.reload()
    const again = await client(tab, api, { laterMs: LATER_MS })
    expect(await again.resume()).toMatchObject({ claimed: 1, succeeded: 1 })

    expectOnce(api, call.key)
  })

  it('is found in the database that was named, and in no other', async () => {
    const { api, tab } = await scene(browser)
    const named = { journal: 'indexeddb', indexedDb: { name: 'shop', durability: 'relaxed' } } as const
    const shop = await client(tab, api, named)
    api.next('hang')
    const call = await shop.post('/charges', charge)
    expect(await call.accepted()).toBe('process')
    await api.until(({ requests }) => requests === 1)

    await tab.reload()
    expect(await (await client(tab, api, { laterMs: LATER_MS })).resume()).toMatchObject({ claimed: 0 })
    const again = await client(tab, api, { ...named, laterMs: LATER_MS })
    expect(await again.resume()).toMatchObject({ claimed: 1, succeeded: 1 })

    expectOnce(api, call.key)
  })
})

describe('an operation in IndexedDB, after the browser was killed', () => {
  it.each(points)('is finished: $when', async ({ fate, effects }) => {
    const browser = await launch()
    const { api, url, tab } = await scene(browser)
    const shop = await client(tab, api)
    api.next(fate)
    const call = await shop.post('/charges', charge)
    await call.accepted()
    await api.until((counted) => counted.requests === 1)
    expect(api.effects).toBe(effects)
    await browser.kill()

    const reopened = await openTab(await launch({ profile: browser.profile }), url)
    const again = await client(reopened, api, { laterMs: LATER_MS, listen: 'charge' })
    expect(await again.resume()).toMatchObject({ claimed: 1, succeeded: 1 })

    expectOnce(api, call.key)
    expect(await reopened.ask('settlements')).toEqual([{ key: call.key, name: 'charge', status: 'succeeded' }])
  })
})
