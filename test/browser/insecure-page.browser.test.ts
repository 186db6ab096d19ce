import { expect, it } from 'vitest'
import { countingApi } from './support/counting-api.ts'
import { launch } from './support/launch.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab } from './support/tab.ts'

// Any other name than localhost is no secure context over http: no `crypto.subtle`, no `randomUUID`, no Web Locks.
it('a page over plain http, as an intranet has them, sends durable operations, and again after a lost answer', async () => {
  const browser = await launch({ flags: ['--host-resolver-rules=MAP intranet.test 127.0.0.1'] })
  const pages = await servePages()
  const api = await countingApi()
  const tab = await openTab(browser, pages.origin.replace('localhost', 'intranet.test') + pages.page())
  expect(await tab.page.evaluate(() => [isSecureContext, 'subtle' in crypto && crypto.subtle !== undefined])).toEqual([
    false,
    false,
  ])
  const client = await tab.createClient({ baseUrl: api.origin, retry: { base: 1, cap: 10 } })
  api.next('lose')
  const call = await client.post('/charges', { json: { amount: 5000 } })
  expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
  expect(await call.accepted()).toBe('power')
  expect(api.only).toMatchObject({ requests: 2, effects: 1 })
  expect(tab.uncaught).toEqual([])
})
