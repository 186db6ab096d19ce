import { beforeAll, expect, it } from 'vitest'
import { countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab } from '../support/tab.ts'

const TABS = 10
const OPERATIONS = 200

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
  await browser.context.addInitScript(countWrites)
})

/** Counts transactions that write, claims among them. */
function countWrites(): void {
  const begin = IDBDatabase.prototype.transaction
  Object.assign(globalThis, { writes: 0 })
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    if (mode === 'readwrite') (globalThis as unknown as { writes: number }).writes++
    return begin.call(this, stores, mode, options)
  }
}

async function run(watchers: number) {
  const pages = await servePages()
  const api = await countingApi()
  const tabs = []
  for (let n = 0; n < TABS; n++) tabs.push(await openTab(browser, pages.origin + pages.page()))
  const options = { baseUrl: api.origin, onGiveUp: 'keep', retry: false, budget: false, breaker: false } as const
  const clients = await Promise.all(tabs.map((tab) => tab.createClient(options)))
  for (const [n, client] of clients.entries()) if (n < watchers) await client.tab.ask('keepResuming', client.number)
  // Every third answer is lost or refused: then any tab may go on.
  for (let n = 0; n < OPERATIONS; n += 3) api.next('answer', 'unavailable', 'lose')
  await Promise.all(Array.from({ length: OPERATIONS }, (_, n) => clients[n % TABS]?.post('/charges', { json: { n } })))
  await api.until(({ effects, keys }) => effects >= OPERATIONS && [...keys.values()].every((key) => key.effects > 0))
  // When nothing is left to do, what is under way a second time shows itself soon.
  const [one] = clients
  await expect.poll(() => one?.tab.ask('keys', one.number, { status: 'pending' }), { timeout: 10_000 }).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 500))
  const writes = await Promise.all(
    tabs.map(({ page }) => page.evaluate(() => (globalThis as unknown as { writes: number }).writes)),
  )
  await Promise.all(tabs.map(({ page }) => page.close()))
  return { api, writes: writes.reduce((sum, count) => sum + count, 0) }
}

it.each([[TABS], [1]])('ten tabs do 200 operations once each, with %i of them watching', async (watchers) => {
  const { api, writes } = await run(watchers)
  // Of all kinds; far above what was seen, so that only a storm of claims is noticed.
  expect(writes).toBeLessThan(3 * OPERATIONS)
  expect(api.keys.size).toBe(OPERATIONS)
  expect([...api.keys.values()].filter(({ effects }) => effects !== 1)).toEqual([])
  expect(api.effects).toBe(OPERATIONS)
})
