import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from './support/counting-api.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab, type Tab } from './support/tab.ts'
import { openChanged } from './wake/changed-tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

/** As it is beside some VPNs and in some virtual machines. */
const sayOffline = (): void => void Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false })

interface Shop {
  readonly api: CountingApi
  readonly tab: Tab
}

async function shop(open = (url: string): Promise<Tab> => openTab(browser, url)): Promise<Shop> {
  const pages = await servePages()
  return { api: await countingApi(), tab: await open(pages.origin + pages.page()) }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a browser that says it is offline although it is not', () => {
  it('is found out, and a post is done', async () => {
    const { api, tab } = await shop((url) => openChanged(browser, url, sayOffline))
    expect(await tab.page.evaluate(() => navigator.onLine)).toBe(false)
    const client = await tab.createClient({ baseUrl: api.origin, deadline: '30s' })
    const call = await client.post('/orders', { json: { amount: 5 } })
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect(api.keys.get(call.key)).toMatchObject({ requests: 1, effects: 1 })
  })

  it('is found out by a continuous resume', async () => {
    const { api, tab } = await shop()
    const left = await tab.createClient({ baseUrl: api.origin })
    api.next('hang')
    const call = await left.post('/orders', { json: { amount: 5 } })
    await api.until(({ requests }) => requests === 1)
    await tab.page.addInitScript(sayOffline)
    await tab.reload()
    const client = await tab.createClient({ baseUrl: api.origin, laterMs: 60_000 })
    await tab.ask('keepResuming', client.number)
    await api.until(({ effects }) => effects === 1)
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
  })
})

describe('a network that is really away', () => {
  it('is looked for, and uses up no attempt until it is back', async () => {
    const { api, tab } = await shop()
    const client = await tab.createClient({ baseUrl: api.origin, deadline: '1m' })
    await browser.context.setOffline(true)
    const failed = tab.page.waitForEvent('requestfailed', (request) => request.method() === 'HEAD')
    const call = await client.post('/orders', { json: { amount: 5 } })
    await failed
    await pause(300)
    expect(await tab.ask('events')).not.toContain('attempt.started')
    await browser.context.setOffline(false)
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect(api.keys.get(call.key)).toMatchObject({ requests: 1, effects: 1 })
    expect((await tab.ask('events')).filter((type) => type === 'attempt.started')).toHaveLength(1)
  })

  it('is not believed to be there because a service worker answers that it is not', async () => {
    const pages = await servePages()
    const refuse = "if (event.request.url.endsWith('/orders')) event.respondWith(new Response('', { status: 503 }))"
    pages.script('/worker.js', `addEventListener('fetch', (event) => { ${refuse} })`)
    const url = pages.origin + pages.page()
    await (await openTab(browser, url)).page.evaluate(async () => {
      await navigator.serviceWorker.register('/worker.js')
      await navigator.serviceWorker.ready
    })
    const tab = await openChanged(browser, url, sayOffline)
    expect(await tab.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true)
    const client = await tab.createClient({})
    const asked = tab.page.waitForResponse((response) => response.request().method() === 'HEAD')
    const call = await client.post('/orders', { json: { amount: 5 } })
    expect((await asked).fromServiceWorker()).toBe(true)
    await pause(300)
    expect(await tab.ask('events')).not.toContain('attempt.started')
    await call.abort()
  })
})
