import { beforeAll, describe, expect, it } from 'vitest'
import { countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { PageClientOptions } from '../support/page-driver.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type Tab } from '../support/tab.ts'

/** Clocks go five times as fast as the world's. */
const SPEED = 5
/** What the machine's clock is set by, for the pages to be a day off. */
const DAY_MS = (24 * 60 * 60 * 1000) / SPEED

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch({
    flags: ['--process-per-tab', '--disable-features=ProcessPerSiteUpToMainFrameThreshold'],
  })
})

/** Somebody sets the clock of the machine. */
async function jump(tabs: readonly Tab[], byMs: number): Promise<void> {
  const move = (ms: number): void => {
    const real = Date.now
    Date.now = () => real() + ms
  }
  await Promise.all(tabs.map(({ page }) => page.evaluate(move, byMs)))
}

/** One tab is at an operation, another watches. */
async function atWork(options: PageClientOptions = {}) {
  const pages = await servePages()
  const api = await countingApi()
  const url = pages.origin + pages.page()
  const [tab, watcher] = [await openTab(browser, url), await openTab(browser, url)]
  const patient: PageClientOptions = { speed: SPEED, attemptTimeout: '5m', deadline: '30m' }
  const shared = { baseUrl: api.origin, ...patient, ...options }
  const client = await tab.createClient(shared)
  await watcher.ask('keepResuming', (await watcher.createClient(shared)).number)
  api.next('hang')
  const call = await client.post('/charges', { json: { amount: 5 } })
  await api.until(({ requests }) => requests === 1)
  return { api, tab, watcher, call }
}

describe('a clock that jumps by a day', () => {
  it('forward ends leases early: the same key is sent again, and there is one effect and one answer', async () => {
    const { api, tab, watcher, call } = await atWork({ horizon: '3d', dedupWindow: '9d' })
    await jump([tab, watcher], DAY_MS)
    await api.until(({ requests }) => requests === 2)
    api.release()
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201, text: '{"number":1}' })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(api.only).toMatchObject({ requests: 2, effects: 1 })
    expect(api.only.hashes.size).toBe(1)
  })

  it('forward beyond the horizon sends nothing more, and tells who called that nobody knows', async () => {
    const { api, tab, watcher, call } = await atWork()
    await jump([tab, watcher], DAY_MS)
    expect(await call.outcome()).toMatchObject({ is: 'failed', effect: 'unknown', pending: false, reason: 'horizon' })
    expect(api.only).toMatchObject({ requests: 1 })
  })

  it('back keeps nobody from succeeding a killed tab, whose lease has another day to go', async () => {
    const { api, tab, watcher } = await atWork()
    await jump([tab, watcher], -DAY_MS)
    await browser.killRenderer(tab.page)
    const start = performance.now()
    await api.until(({ effects }) => effects === 1)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(api.only).toMatchObject({ requests: 2, effects: 1 })
  })
})
