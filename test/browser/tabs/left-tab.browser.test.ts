import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab } from '../support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch({ backForwardCache: true })
})

const ELSEWHERE = '/elsewhere.html'

const ways: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  closed: (page) => page.close(),
  'left for another page': (page) => page.goto(new URL(ELSEWHERE, page.url()).href),
  reloaded: (page) => page.reload(),
}

// Owners are checked for being alive every five seconds: one time below two seconds may be luck, three are not.
const TIMES = 3
const AT_ONCE_MS = 2000
// A busy machine ends a page before its last message, or lists the locks too late to count: then a check finds it.
const BUSY = { retry: 3 }

it.each(Object.keys(ways))('what a tab was at is taken up at once when it is %s', BUSY, async (way) => {
  const pages = await servePages()
  pages.script(ELSEWHERE, '')
  const api = await countingApi()
  const url = pages.origin + pages.page()
  const watcher = await openTab(browser, url)
  await watcher.ask('keepResuming', (await watcher.createClient({ baseUrl: api.origin })).number)
  for (let time = 1; time <= TIMES; time++) {
    const tab = await openTab(browser, url)
    const retry = { base: 20_000, jitter: 'none' } as const
    const client = await tab.createClient({ baseUrl: api.origin, deadline: '5m', retry })
    api.next('unavailable')
    const call = await client.post('/charges', { json: { time } })
    await api.until(({ keys }) => keys.get(call.key)?.requests === 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const start = performance.now()
    const takenUp = api.until(({ effects }) => effects === time).then(() => performance.now() - start)
    await ways[way]?.(tab.page)
    expect(await takenUp).toBeLessThan(AT_ONCE_MS)
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
  }
})
