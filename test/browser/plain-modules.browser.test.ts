import { beforeAll, describe, expect, it } from 'vitest'
import { captivePortal } from './support/captive-portal.ts'
import { type ApiOptions, type CountingApi, countingApi } from './support/counting-api.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import type { PageClientOptions } from './support/page-driver.ts'
import { IMPORT_MAP_HASH, servePages } from './support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from './support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

interface Scene {
  readonly api: CountingApi
  readonly tab: Tab
  readonly client: PageClient
}

interface SceneOptions {
  readonly api?: ApiOptions
  readonly client?: PageClientOptions
  /** An address that the policy lets the page talk to, beside the API. */
  readonly reachable?: string
}

/** A page under the strictest policy that lets it talk to the API at all, and a client with a journal in memory. */
async function scene(options: SceneOptions = {}): Promise<Scene> {
  const pages = await servePages()
  const api = await countingApi(options.api)
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${IMPORT_MAP_HASH}`,
    `connect-src ${api.origin} ${options.reachable ?? ''}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  const tab = await openTab(browser, pages.origin + pages.page({ policy }))
  const client = await tab.createClient({
    baseUrl: api.origin,
    journal: 'memory',
    retry: { base: 1, cap: 10 },
    ...options.client,
  })
  return { api, tab, client }
}

describe('plain modules in Chromium, under a strict policy and strict CORS', () => {
  it('make a call, with no header but the two that the API allows', async () => {
    const { api, tab, client } = await scene()
    const call = await client.post('/charges', { json: { amount: 5000 } })
    expect(await call.outcome()).toEqual({ is: 'answered', status: 201, text: '{"number":1}' })
    expect(await call.accepted()).toBe('memory')
    expect([...api.keys.keys()]).toEqual([call.key])
    expect(api.only.bodies).toEqual(['{"amount":5000}'])
    expect(api.preflights).toBeGreaterThan(0)
    expect(api.complaints).toEqual([])
    expect(tab.violations).toEqual([])
    expect(tab.uncaught).toEqual([])
  })

  it('try again after a 503 with the same key and bytes, and the effect happens once', async () => {
    const { api, client } = await scene()
    api.next('unavailable', 'unavailable')
    const call = await client.post('/charges', { json: { amount: 5000 } })
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect(api.only).toMatchObject({ requests: 3, effects: 1 })
    expect(api.only.hashes.size).toBe(1)
  })

  it.each(['lose', 'reset'] as const)(
    'try again after a cut connection (%s), and the effect happens once',
    async (fate) => {
      const { api, tab, client } = await scene()
      api.next(fate)
      const call = await client.post('/charges', { json: { amount: 5000 } })
      expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201, text: '{"number":1}' })
      expect(api.only).toMatchObject({ requests: 2, effects: 1 })
      const attempts = (await tab.ask('events')).filter((type) => type === 'attempt.started')
      expect(attempts).toHaveLength(2)
      expect(api.only.hashes.size).toBe(1)
    },
  )

  it('abandon a call within 50 ms of its abort', async () => {
    const { api, client } = await scene()
    api.next('hang')
    const call = await client.post('/charges', { json: { amount: 5000 } })
    await api.until(({ requests }) => requests === 1)
    const outcome = await call.abort()
    expect(outcome).toMatchObject({ is: 'failed', name: 'AbortError', message: 'Changed my mind' })
    expect(outcome.afterMs).toBeLessThan(50)
    expect(api.requests).toBe(1)
  })

  it('send a new token after a 401', async () => {
    const allowHeaders = ['idempotency-key', 'content-type', 'authorization']
    const { api, client } = await scene({ api: { allowHeaders }, client: { tokens: ['old', 'new'] } })
    api.requireToken('new')
    const call = await client.post('/charges', { json: { amount: 5000 } })
    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
    expect(api.only).toMatchObject({ requests: 2, effects: 1, authorizations: ['Bearer old', 'Bearer new'] })
    expect(api.only.hashes.size).toBe(1)
  })
})

describe('a captive portal', () => {
  it.each(['open', 'closed'] as const)('is no answer: the call is tried again (%s to all)', async (manners) => {
    const portal = await captivePortal(manners)
    const { api, client } = await scene({ api: { portal: portal.url }, reachable: portal.url })
    api.next('captive-portal')
    const call = await client.post('/charges', { json: { amount: 5000 } })
    expect(await call.outcome()).toEqual({ is: 'answered', status: 201, text: '{"number":1}' })
    expect(api.only).toMatchObject({ requests: 2, effects: 1 })
    expect(portal.visits()).toBe(0)
  })

  it('that stays ends the call as a fault of the network', async () => {
    const portal = await captivePortal('open')
    const { api, client } = await scene({ api: { portal: portal.url }, reachable: portal.url })
    api.otherwise('captive-portal')
    const call = await client.post('/charges', { json: { amount: 5000 }, retry: { base: 1, cap: 10, maxAttempts: 2 } })
    expect(await call.outcome()).toMatchObject({ is: 'failed', name: 'IndeterminateError', reason: 'attempts' })
    expect(api).toMatchObject({ requests: 2, effects: 0 })
    expect(portal.visits()).toBe(0)
  })
})
