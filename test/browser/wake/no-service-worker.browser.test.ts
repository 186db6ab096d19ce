import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type Tab } from '../support/tab.ts'
import { openChanged } from './changed-tab.ts'
import { hidingBrowser } from './hiding-browser.ts'
import { expectSentBy, withLateOperation } from './late-operation.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

/** Neither service workers nor Background Sync, as in a page without https or in an embedded view. */
function withoutServiceWorker(): void {
  Reflect.deleteProperty(Navigator.prototype, 'serviceWorker')
  Reflect.deleteProperty(ServiceWorkerRegistration.prototype, 'sync')
  Reflect.deleteProperty(globalThis, 'SyncManager')
}

interface Scene {
  readonly api: CountingApi
  readonly tab: Tab
  readonly url: string
}

async function scene(inside = browser): Promise<Scene> {
  const pages = await servePages()
  const url = pages.origin + pages.page()
  const tab = await openChanged(inside, url, withoutServiceWorker)
  expect(await tab.page.evaluate(() => 'serviceWorker' in navigator || 'SyncManager' in globalThis)).toBe(false)
  return { api: await countingApi(), tab, url }
}

describe('without a service worker, a page goes on', () => {
  it('when it is loaded', async () => {
    const { api, tab } = await scene()
    const client = await tab.createClient({ baseUrl: api.origin })
    api.next('hang')
    const call = await client.post('/charges', { json: { amount: 5 } })
    await api.until(({ requests }) => requests === 1)
    await tab.reload()
    const again = await tab.createClient({ baseUrl: api.origin })
    await expectSentBy(() => tab.ask('keepResuming', again.number), api)
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
  })

  it('when the network comes back', async () => {
    const { api, tab } = await scene()
    await withLateOperation(tab, api)
    await browser.context.setOffline(true)
    await expectSentBy(() => browser.context.setOffline(false), api)
  })

  it('when it comes to the front', async () => {
    const hiding = await hidingBrowser()
    const { api, tab, url } = await scene(hiding)
    await withLateOperation(tab, api)
    await openTab(hiding, url)
    await tab.page.waitForFunction(() => document.visibilityState === 'hidden', undefined, { polling: 100 })
    await expectSentBy(() => tab.page.bringToFront(), api)
  })

  it('and is told that there is nobody to wake', async () => {
    const { tab } = await scene()
    const asked = await tab.page.evaluate("import('holdfast/service-worker').then((door) => door.wakeServiceWorker())")
    expect(asked).toBe(false)
    expect(tab.uncaught).toEqual([])
  })
})
