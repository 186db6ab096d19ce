import { beforeAll, describe, expect, it } from 'vitest'
import { type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from '../support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

const allowHeaders = ['idempotency-key', 'content-type', 'authorization']
/** Clocks go five times as fast as the world's. */
const SPEED = 5
/** Longer than it takes to find out that a runner is gone. */
const A_WHILE_MS = 7000 / SPEED

const logIn = (tab: Tab, api: CountingApi, name: 'anna' | 'bert'): Promise<PageClient> =>
  tab.createClient({
    baseUrl: api.origin,
    speed: SPEED,
    namespace: `user:${name}`,
    tokens: [name],
    onGiveUp: 'keep',
    retry: false,
    budget: false,
    breaker: false,
  })

/** Anna is logged in, and has two operations: one that failed, and one that is under way. */
async function annasWork() {
  const pages = await servePages()
  const api = await countingApi({ allowHeaders })
  const tab = await openTab(browser, pages.origin + pages.page())
  const anna = await logIn(tab, api, 'anna')
  api.next('unavailable')
  await (await anna.post('/charges', { json: { n: 1 }, name: 'charge' })).outcome()
  api.next('hang')
  const underWay = await anna.post('/charges', { json: { n: 2 }, name: 'charge' })
  await api.until(({ requests }) => requests === 2)
  return { api, tab, anna, underWay, keys: [...api.keys.keys()] }
}

/** Bert uses the same browser for a while. */
async function bertsTurn(tab: Tab, api: CountingApi): Promise<void> {
  const bert = await logIn(tab, api, 'bert')
  expect(await tab.ask('keys', bert.number)).toEqual([])
  expect(await bert.resume()).toMatchObject({ claimed: 0 })
  await tab.ask('keepResuming', bert.number)
  const call = await bert.post('/charges', { json: { n: 3 } })
  expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
  await new Promise((resolve) => setTimeout(resolve, A_WHILE_MS))
  expect(api.requests).toBe(3)
}

describe('another person in the same browser', () => {
  it('sends nothing of who was there before, whose work goes on when she is back', async () => {
    const { api, tab, keys } = await annasWork()
    await tab.reload()
    await bertsTurn(tab, api)
    await tab.reload()
    expect(await (await logIn(tab, api, 'anna')).resume()).toMatchObject({ claimed: 2, succeeded: 2 })
    for (const key of keys) {
      const authorizations = ['Bearer anna', 'Bearer anna']
      expect(api.keys.get(key)).toMatchObject({ requests: 2, effects: 1, authorizations })
    }
    expect(api).toMatchObject({ effects: 3, complaints: [] })
  })

  it('finds nothing of who has logged out and had it forgotten, and neither does she', async () => {
    const { api, tab, anna, underWay, keys } = await annasWork()
    await tab.ask('forget', anna.number)
    expect(await underWay.outcome()).toMatchObject({ is: 'failed', reason: 'aborted' })
    await tab.reload()
    await bertsTurn(tab, api)
    await tab.reload()
    const again = await logIn(tab, api, 'anna')
    expect(await tab.ask('keys', again.number)).toEqual([])
    expect(await again.resume()).toMatchObject({ claimed: 0 })
    for (const key of keys) expect(api.keys.get(key)).toMatchObject({ requests: 1, effects: 0 })
    expect(api).toMatchObject({ requests: 3, effects: 1, complaints: [] })
  })
})

describe('another person who logs in, in another tab', () => {
  /** Anna's order waits for its second attempt in one tab; the cookies are those of the whole browser. */
  async function annasOrderWaits() {
    const pages = await servePages()
    const api = await countingApi()
    const url = pages.origin + pages.page()
    const [first, second] = [await openTab(browser, url), await openTab(browser, url)]
    const logInAs = (name: string): Promise<unknown> => second.page.evaluate(`document.cookie = 'user=${name}'`)
    await logInAs('anna')
    const options = { baseUrl: api.origin, sessionCookie: 'user', speed: SPEED, budget: false, breaker: false } as const
    const patient = { retry: { base: '10s', cap: '10s', jitter: 'none' } } as const
    const [anna, other] = [
      await first.createClient({ ...options, ...patient }),
      await second.createClient({ ...options, onGiveUp: 'keep' }),
    ]
    api.next('lose')
    const call = await anna.post('/orders', { json: { n: 1 } })
    await api.until(({ requests }) => requests === 1)
    return { api, call, other, second, logInAs }
  }

  it('gets nothing of hers sent in his session; it goes on when she is back', async () => {
    const { api, call, other, logInAs } = await annasOrderWaits()
    await logInAs('bert')
    expect(await call.outcome()).toMatchObject({ is: 'failed', reason: 'auth', effect: 'unknown', pending: true })
    expect(await other.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(api.requests).toBe(1)
    await logInAs('anna')
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(api.only).toMatchObject({ requests: 2, effects: 1 })
  })

  it('after she has had it forgotten there: it ends in this tab, too, before its next attempt', async () => {
    const { api, call, other, second } = await annasOrderWaits()
    await second.ask('forget', other.number)
    expect(await call.outcome()).toMatchObject({ is: 'failed', code: 'HOLDFAST_RECORD_GONE' })
    expect(api.requests).toBe(1)
  })
})
