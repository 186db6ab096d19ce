import { beforeAll, describe, expect, it } from 'vitest'
import { captivePortal } from './support/captive-portal.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab } from './support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

const call = { body: '{"pan":"4111111111111111"}', headers: { 'x-api-key': 'MINE' }, retry: false } as const

describe('a redirect to a foreign origin that allows everything', () => {
  for (const from of ['origin', 'otherOrigin'] as const) {
    const whose = from === 'origin' ? 'its own origin' : 'an API of another origin'

    it(`does not take a POST of a page to ${whose} there`, async () => {
      const portal = await captivePortal('open')
      const pages = await servePages()
      pages.redirect('/api/orders', portal.url)
      const tab = await openTab(browser, pages.origin + pages.page())
      const client = await tab.createClient({ baseUrl: pages[from] })
      const made = await client.post('/api/orders', call)
      expect(await made.outcome()).toMatchObject({ is: 'failed', code: 'HOLDFAST_INDETERMINATE', effect: 'unknown' })
      expect(portal.visits()).toBe(0)
    })

    it(`does not take the headers of the client there, nor those of a GET to ${whose}`, async () => {
      const portal = await captivePortal('open')
      const pages = await servePages()
      pages.redirect('/api/orders', portal.url)
      const tab = await openTab(browser, pages.origin + pages.page())
      for (const [options, headers] of [
        [{ tokens: ['mine'] }, {}],
        [{}, { 'x-api-key': 'MINE' }],
      ] as const) {
        const client = await tab.createClient({ baseUrl: pages[from], ...options })
        const made = await client.request('GET', '/api/orders', { headers, retry: false })
        expect(await made.outcome()).toMatchObject({ is: 'failed' })
      }
      expect(portal.visits()).toBe(0)
    })

    it(`takes a GET that carries nothing of its own from ${whose} there`, async () => {
      const portal = await captivePortal('open')
      const pages = await servePages()
      pages.redirect('/api/orders', portal.url)
      const tab = await openTab(browser, pages.origin + pages.page())
      const client = await tab.createClient({ baseUrl: pages[from] })
      const made = await client.request('GET', '/api/orders', { retry: false })
      expect(await made.outcome()).toMatchObject({ is: 'answered', status: 200 })
      expect(portal.visits()).toBe(1)
    })
  }
})

describe('a redirect within the origin of the page', () => {
  it('is followed with method, body, key and headers', async () => {
    const pages = await servePages()
    pages.script('/api/v2/orders', 'taken')
    pages.redirect('/api/orders', '/api/v2/orders')
    const tab = await openTab(browser, pages.origin + pages.page())
    const client = await tab.createClient({ tokens: ['mine'] })
    const sent = tab.page.waitForRequest(/v2/)
    const made = await client.post('/api/orders', call)
    expect(await made.outcome()).toEqual({ is: 'answered', status: 200, text: 'taken' })
    const request = await sent
    expect(request.method()).toBe('POST')
    expect(request.postData()).toBe(call.body)
    expect(await request.allHeaders()).toMatchObject({ authorization: 'Bearer mine', 'x-api-key': 'MINE' })
  })
})
