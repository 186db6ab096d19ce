import { beforeAll, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { bundled } from '../support/page-scripts.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from '../support/tab.ts'
import { syncEvents } from './sync-event.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

/** A shop whose service worker has a client of its own. */
async function shop() {
  const pages = await servePages()
  const api = await countingApi()
  const script = `
    import { createClient } from 'holdfast'
    import { resumeInServiceWorker } from 'holdfast/service-worker'
    resumeInServiceWorker(createClient({ baseUrl: '${api.origin}' }))`
  pages.script('/worker.js', await bundled(script))
  const url = pages.origin + pages.page()
  return { api, origin: pages.origin, open: () => openTab(browser, url) }
}

/** A page that is closed while its attempt is under way. */
async function leaveBehind(tab: Tab, api: CountingApi): Promise<string> {
  const client = await tab.createClient({ baseUrl: api.origin })
  api.next('hang')
  const call = await client.post('/charges', { json: { amount: 5 } })
  await api.until(({ requests }) => requests === 1)
  await tab.page.close()
  return call.key
}

const register = (tab: Tab): Promise<void> =>
  tab.page.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js')
    await navigator.serviceWorker.ready
  })

it('a service worker that becomes active finishes what a closed page left', async () => {
  const { api, open } = await shop()
  const key = await leaveBehind(await open(), api)
  await register(await open())
  await api.until(({ effects }) => effects === 1)
  expect(api.keys.get(key)).toMatchObject({ requests: 2, effects: 1 })
})

it('a service worker and a page at once make one effect', async () => {
  const { api, open } = await shop()
  const tab = await open()
  await register(tab)
  const key = await leaveBehind(await open(), api)
  const client = await tab.createClient({ baseUrl: api.origin })
  const [report] = await Promise.all([
    client.resume(),
    tab.page.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready
      for (let times = 0; times < 3; times++) active?.postMessage('holdfast')
    }),
  ])
  expect(report.claimed).toBeLessThanOrEqual(1)
  await api.until(({ effects }) => effects === 1)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(api.keys.get(key)).toMatchObject({ requests: 2, effects: 1 })
})

const OPERATIONS = 40

/** Sent once each, in vain: now they belong to whoever comes first. */
async function leavePending(tab: Tab, api: CountingApi): Promise<PageClient> {
  const patient = { onGiveUp: 'keep', retry: false, budget: false, breaker: false } as const
  const client = await tab.createClient({ baseUrl: api.origin, ...patient })
  api.otherwise('unavailable')
  const calls = Array.from({ length: OPERATIONS }, (_, n) => client.post('/charges', { json: { n } }))
  for (const call of await Promise.all(calls)) await call.outcome()
  // Slow enough for the one to come while the other is at it.
  api.otherwise('slow')
  return client
}

/** As many requests as operations, beside the first ones; none of them twice. */
function expectOnceEach(api: CountingApi): void {
  expect(api.keys.size).toBe(OPERATIONS)
  expect([...api.keys.values()].filter(({ requests, effects }) => requests !== 2 || effects !== 1)).toEqual([])
  expect(api).toMatchObject({ requests: 2 * OPERATIONS, effects: OPERATIONS, replays: 0, complaints: [] })
}

it('a service worker woken by a sync event and a page that resumes meanwhile send nothing twice', async () => {
  const { api, origin, open } = await shop()
  const sync = await syncEvents(browser)
  const tab = await open()
  await register(tab)
  const client = await leavePending(tab, api)
  const synced = Promise.all([sync(origin), sync(origin)])
  await api.until(({ effects }) => effects > 0)
  const [report] = await Promise.all([client.resume(), synced])
  await api.until(({ effects }) => effects === OPERATIONS)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  // How much is left for the page depends on the machine.
  expect(report.succeeded).toBeLessThan(OPERATIONS)
  expectOnceEach(api)
})

it('a service worker woken by a sync event finishes everything when no page is left', async () => {
  const { api, origin, open } = await shop()
  const sync = await syncEvents(browser)
  const tab = await open()
  await register(tab)
  await leavePending(tab, api)
  await tab.page.close()
  expect(api.effects).toBe(0)
  await sync(origin)
  await api.until(({ effects }) => effects === OPERATIONS)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expectOnceEach(api)
})

it('a sync event with another tag is somebody else’s', async () => {
  const { api, origin, open } = await shop()
  const sync = await syncEvents(browser, 'pictures')
  const tab = await open()
  await register(tab)
  await leavePending(tab, api)
  await tab.page.close()
  await sync(origin)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(api.effects).toBe(0)
})

it('a page that asks for it is followed by the service worker, also where it is closed at once', async () => {
  const { api, open } = await shop()
  const tab = await open()
  await register(tab)
  await leavePending(tab, api)
  const asked = tab.page.evaluate("import('holdfast/service-worker').then((door) => door.wakeServiceWorker())")
  expect(await asked).toBe(true)
  await tab.page.close()
  await api.until(({ effects }) => effects === OPERATIONS)
  expectOnceEach(api)
})
