import { beforeAll, describe, expect, it } from 'vitest'
import { captivePortal } from '../support/captive-portal.ts'
import { type ApiOptions, type CountingApi, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { PageClientOptions } from '../support/page-driver.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type PageClient, type Tab } from '../support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

interface Left {
  readonly api: CountingApi
  readonly tab: Tab
  readonly key: string
  /** The same page, loaded anew, with another client. */
  again(options?: PageClientOptions): Promise<PageClient>
}

/** An operation whose page was loaded anew while its first attempt was under way. */
async function leftBehind(options: ApiOptions, client: PageClientOptions = {}): Promise<Left> {
  const pages = await servePages()
  const api = await countingApi(options)
  const tab = await openTab(browser, pages.origin + pages.page())
  const again = async (more: PageClientOptions = {}): Promise<PageClient> => {
    await tab.reload()
    return tab.createClient({ baseUrl: api.origin, budget: false, breaker: false, ...client, ...more })
  }
  api.next('hang')
  const call = await (await again()).post('/charges', { json: { amount: 5 } })
  await api.until(({ requests }) => requests === 1)
  return { api, tab, key: call.key, again }
}

describe('a resume, later', () => {
  const allowHeaders = ['idempotency-key', 'content-type', 'authorization']

  it('sends a new token after a 401', async () => {
    const { api, again } = await leftBehind({ allowHeaders }, { tokens: ['old'] })
    api.requireToken('new')
    expect(await (await again({ tokens: ['old', 'new'] })).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    const authorizations = ['Bearer old', 'Bearer old', 'Bearer new']
    expect(api.only).toMatchObject({ requests: 3, effects: 1, authorizations })
    expect(api.only.hashes.size).toBe(1)
  })

  it('leaves what gets a 401 pending, until somebody has a better token', async () => {
    const { api, again } = await leftBehind({ allowHeaders }, { tokens: ['old'] })
    api.requireToken('new')
    expect(await (await again()).resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(api.effects).toBe(0)
    const before = api.requests
    expect(await (await again({ tokens: ['new'] })).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(api.only).toMatchObject({ requests: before + 1, effects: 1 })
    expect(api.only.authorizations.at(-1)).toBe('Bearer new')
  })

  it.each(['open', 'closed'] as const)('takes no captive portal for an answer (%s to all)', async (manners) => {
    const portal = await captivePortal(manners)
    const retry = { base: 1, cap: 10, maxAttempts: 2 }
    const { api, key, again, tab } = await leftBehind({ portal: portal.url }, { retry })
    api.otherwise('captive-portal')
    const client = await again()
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(await tab.ask('status', client.number, key)).toBe('pending')
    expect(api.only).toMatchObject({ requests: 3, effects: 0 })
    api.otherwise('answer')
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(api.only).toMatchObject({ requests: 4, effects: 1 })
    expect(api.only.hashes.size).toBe(1)
  })
})
