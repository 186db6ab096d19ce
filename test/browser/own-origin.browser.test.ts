import { beforeAll, expect, it } from 'vitest'
import { launch, type TestBrowser } from './support/launch.ts'
import { bundled } from './support/page-scripts.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab } from './support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

it('a page calls paths of its own origin, with and without a base', async () => {
  const pages = await servePages()
  pages.script('/api/orders', 'taken')
  const tab = await openTab(browser, pages.origin + pages.page())
  for (const [options, path] of [
    [{}, '/api/orders'],
    [{ baseUrl: '/api' }, '/orders'],
    [{ tokens: ['a'] }, 'api/orders'],
  ] as const) {
    const client = await tab.createClient(options)
    const call = await client.post(path, { json: { amount: 5 } })
    expect(await call.outcome()).toEqual({ is: 'answered', status: 200, text: 'taken' })
  }
})

it('a worker calls paths of the origin that its script came from', async () => {
  const pages = await servePages()
  pages.script('/api/orders', 'taken')
  const script = `
    import { createClient } from 'holdfast'
    createClient({ baseUrl: '/api' }).post('/orders').text().then(postMessage, (error) => postMessage(String(error)))`
  pages.script('/worker.js', await bundled(script))
  const tab = await openTab(browser, pages.origin + pages.page())
  const answer = await tab.page.evaluate(
    () => new Promise((resolve) => new Worker('/worker.js').addEventListener('message', ({ data }) => resolve(data))),
  )
  expect(answer).toBe('taken')
})

it('a page sends its cookie or not, as the client says', async () => {
  const pages = await servePages()
  pages.script('/api/orders', 'taken')
  const tab = await openTab(browser, pages.origin + pages.page())
  await tab.page.evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the plainest way to have one
    document.cookie = 'session=mine'
  })
  const cookies: unknown[] = []
  for (const credentials of ['omit', 'include'] as const) {
    const client = await tab.createClient({ credentials })
    const sent = tab.page.waitForRequest(/orders/)
    await (await client.post('/api/orders')).outcome()
    cookies.push((await (await sent).allHeaders()).cookie)
  }
  expect(cookies).toEqual([undefined, 'session=mine'])
})
