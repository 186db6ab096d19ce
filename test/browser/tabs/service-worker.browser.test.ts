import { beforeAll, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { bundled } from '../support/page-scripts.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type Tab } from '../support/tab.ts'

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
  return { api, open: () => openTab(browser, url) }
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
