import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab } from '../support/tab.ts'
import { openChanged } from './changed-tab.ts'
import { hidingBrowser } from './hiding-browser.ts'
import { expectSentBy, pause, withLateOperation } from './late-operation.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch({ backForwardCache: true })
})

interface Shop {
  readonly api: CountingApi
  readonly url: string
  readonly elsewhere: string
}

async function shop(): Promise<Shop> {
  const pages = await servePages()
  const elsewhere = pages.origin + pages.page({ html: '<!doctype html><title>elsewhere</title>' })
  return { api: await countingApi(), url: pages.origin + pages.page(), elsewhere }
}

const hearNothingOf = {
  visibilitychange: () =>
    addEventListener('visibilitychange', (event) => event.stopImmediatePropagation(), { capture: true }),
}

describe('a continuous resume goes on at once', () => {
  it('when the network comes back', async () => {
    const { api, url } = await shop()
    await withLateOperation(await openTab(browser, url), api)
    await browser.context.setOffline(true)
    await pause(500)
    await expectSentBy(() => browser.context.setOffline(false), api)
  })

  it('when its tab comes to the front', async () => {
    const hiding = await hidingBrowser()
    const { api, url } = await shop()
    const tab = await openTab(hiding, url)
    await withLateOperation(tab, api)
    await openTab(hiding, url)
    await tab.page.waitForFunction(() => document.visibilityState === 'hidden', undefined, { polling: 100 })
    await pause(500)
    await expectSentBy(() => tab.page.bringToFront(), api)
  })

  it('when its page comes back out of the back/forward cache', async () => {
    const { api, url, elsewhere } = await shop()
    const tab = await openChanged(browser, url, hearNothingOf.visibilitychange)
    await withLateOperation(tab, api)
    await tab.page.evaluate(() => addEventListener('pageshow', () => sessionStorage.setItem('back', 'the same page')))
    await tab.page.goto(elsewhere)
    await pause(500)
    await expectSentBy(() => tab.page.evaluate(() => history.back()), api)
    expect(await tab.page.evaluate(() => sessionStorage.getItem('back'))).toBe('the same page')
  })

  it('when a run is due, and nothing else happens', async () => {
    const { api, url } = await shop()
    const tab = await openTab(browser, url)
    const client = await tab.createClient({ baseUrl: api.origin, onGiveUp: 'keep', retry: false })
    api.next('unavailable')
    await (await client.post('/charges', { json: { amount: 5 } })).outcome()
    await expectSentBy(() => tab.ask('keepResuming', client.number), api)
  })

  it('when another tab lets go of something, even where timers come once a minute', async () => {
    const { api, url } = await shop()
    const slow = await openChanged(browser, url, () => {
      const start = globalThis.setTimeout
      const late = (work: () => void, ms = 0) => start(work, ms < 100 ? ms : 60_000)
      Object.assign(globalThis, { setTimeout: late })
    })
    await slow.ask('keepResuming', (await slow.createClient({ baseUrl: api.origin })).number)
    const tab = await openTab(browser, url)
    const retry = { base: 50_000, cap: 50_000, jitter: 'none' } as const
    const client = await tab.createClient({ baseUrl: api.origin, deadline: '5m', retry })
    api.next('unavailable')
    await client.post('/charges', { json: { amount: 5 } })
    await api.until(({ requests }) => requests === 1)
    await pause(500)
    await expectSentBy(() => tab.ask('close', client.number), api)
  })
})
