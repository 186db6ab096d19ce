import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { Driver, PageClientOptions } from '../support/page-driver.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from '../support/tab.ts'

/** Tabs in processes of their own, so that one can be killed. */
const RENDERER_EACH = { flags: ['--process-per-tab', '--disable-features=ProcessPerSiteUpToMainFrameThreshold'] }

/** Where nothing is said of seconds, clocks go five times as fast as the world's: a lease is six, a look at the others every second. */
const FAST = { speed: 5 }

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch(RENDERER_EACH)
})

const client = (tab: Tab, api: CountingApi, more: PageClientOptions = {}): Promise<PageClient> =>
  tab.createClient({ baseUrl: api.origin, ...more })

/** Two tabs of one shop. */
async function twoTabs(inside = browser) {
  const { origin, page } = await servePages()
  const api = await countingApi()
  const url = origin + page()
  const [a, b] = [await openTab(inside, url), await openTab(inside, url)]
  return { api, url, a, b, elsewhere: origin + page({ html: '<!doctype html><title>elsewhere</title>' }) }
}

async function seconds(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return (performance.now() - start) / 1000
}

describe('two tabs', () => {
  it('a killed tab’s operation is finished by the other within ten seconds, once', async () => {
    const { api, a, b } = await twoTabs()
    const [one, other] = [await client(a, api), await client(b, api)]
    await b.ask('keepResuming', other.number)
    api.next('hang')
    const call = await one.post('/charges', { json: { amount: 5 } })
    await api.until(({ requests }) => requests === 1)
    await browser.killRenderer(a.page)
    const took = await seconds(api.until(({ effects }) => effects === 1))
    // A crashed page is in the way of whoever sets the network of all.
    await a.page.close()
    expect(took).toBeLessThan(10)
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
  })

  it('a live tab’s operation is never taken', async () => {
    const { api, a, b } = await twoTabs()
    const patient: PageClientOptions = { ...FAST, attemptTimeout: '10m', deadline: '20m' }
    const [one, other] = [await client(a, api, patient), await client(b, api, patient)]
    await b.ask('keepResuming', other.number)
    api.next('hang')
    const call = await one.post('/charges', { json: { amount: 5 } })
    await api.until(({ requests }) => requests === 1)
    // Longer than a lease.
    await new Promise((resolve) => setTimeout(resolve, 7000))
    api.release()
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect(api.only).toMatchObject({ requests: 1, effects: 1 })
  })

  it('a tab in the back/forward cache is succeeded, and when it is back it has its answer and changes nothing', async () => {
    const { api, a, b, elsewhere } = await twoTabs(await launch({ backForwardCache: true }))
    const patient = { base: 100_000, cap: 100_000, jitter: 'none' } as const
    const one = await client(a, api, { ...FAST, deadline: '20m', retry: patient })
    const other = await client(b, api, { ...FAST, attemptTimeout: '5m' })
    await b.ask('keepResuming', other.number)
    api.next('unavailable')
    const call = await one.post('/charges', { json: { amount: 5 } })
    await call.accepted()
    await api.until(({ requests }) => requests === 1)
    // A page that comes back is seen through its neighbour: the driver has lost hold of it.
    await a.page.evaluate((number) => {
      const { holdfastDriver } = globalThis as unknown as { holdfastDriver: Driver }
      addEventListener('pageshow', ({ persisted }) => localStorage.setItem('back', String(persisted)))
      void holdfastDriver.outcome(number).then((outcome) => localStorage.setItem('outcome', JSON.stringify(outcome)))
    }, call.number)
    const seen = async (name: string): Promise<string> => {
      const found = await b.page.waitForFunction((wanted) => localStorage.getItem(wanted), name)
      return String(await found.jsonValue())
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    const took = await seconds(Promise.all([a.page.goto(elsewhere), api.until(({ effects }) => effects === 1)]))
    expect(took).toBeLessThan(12)
    await a.page.evaluate(() => history.back())
    expect(await seen('back')).toBe('true')
    // It notices with its next renewal.
    expect(await seconds(seen('outcome'))).toBeLessThan(12)
    expect(JSON.parse(await seen('outcome'))).toMatchObject({ is: 'answered', status: 201 })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
  })

  it('who called gets its answer also when another tab did the work', async () => {
    const { api, a, b } = await twoTabs()
    const [one, other] = [await client(a, api), await client(b, api)]
    api.next('hang')
    const first = await one.post('/charges', { json: { amount: 5 }, id: 'order:1' })
    await api.until(({ requests }) => requests === 1)
    const second = await other.post('/charges', { json: { amount: 5 }, id: 'order:1' })
    await second.accepted()
    api.release()
    const answers = [await first.outcome(), await second.outcome()]
    expect(answers).toEqual([answers[0], answers[0]])
    expect(answers[0]).toMatchObject({ is: 'answered', status: 201 })
    expect(api.only).toMatchObject({ requests: 1, effects: 1 })
  })
})

describe('offline', () => {
  it('uses no attempt, and goes on as soon as the network is back', async () => {
    const { api, a } = await twoTabs()
    const one = await client(a, api, FAST)
    await browser.context.setOffline(true)
    const call = await one.post('/charges', { json: { amount: 5 } })
    expect(await call.accepted()).toBe('power')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await a.ask('events')).not.toContain('attempt.started')
    await browser.context.setOffline(false)
    const took = await seconds(call.outcome())
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect((await a.ask('events')).filter((type) => type === 'attempt.started')).toHaveLength(1)
    expect(took).toBeLessThan(5)
  })
})
