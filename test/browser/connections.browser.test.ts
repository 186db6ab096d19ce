import { beforeAll, describe, expect, it } from 'vitest'
import { type HoldingApi, type HoldingApiOptions, holdingApi } from './support/holding-api.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import { bundled } from './support/page-scripts.ts'
import { type Pages, servePages } from './support/serve-pages.ts'
import { openTab, type PageCall, type PageClient } from './support/tab.ts'

const CONNECTIONS = 6
const POSTS = 20

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch({ flags: ['--ignore-certificate-errors'] })
})

interface Shop {
  readonly api: HoldingApi
  readonly pages: Pages
  readonly client: PageClient
}

async function shop(options: HoldingApiOptions): Promise<Shop> {
  const api = await holdingApi(options)
  const pages = await servePages()
  const tab = await openTab(browser, pages.origin + pages.page())
  const client = await tab.createClient({ baseUrl: api.origin, attemptTimeout: '5s', deadline: '1m' })
  return { api, pages, client }
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(20)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** So many posts at once. Resolves when each of them was sent by the client or waits. */
async function burst({ client }: Shop): Promise<PageCall[]> {
  const { tab } = client
  const before = (await tab.ask('events')).length
  const calls = await Promise.all(Array.from({ length: POSTS }, () => client.post('/orders', { json: { amount: 5 } })))
  await until(async () => {
    const events = (await tab.ask('events')).slice(before)
    return count(events, 'attempt.started') + count(events, 'operation.waiting') === POSTS
  })
  return calls
}

const count = (events: readonly string[], type: string): number => events.filter((one) => one === type).length

async function outcomes(calls: readonly PageCall[]): Promise<string[]> {
  const ended = await Promise.all(calls.map((call) => call.outcome()))
  return [...new Set(ended.map((outcome) => (outcome.is === 'answered' ? String(outcome.status) : outcome.message)))]
}

/** One post from beginning to end, until the page knows how it came. */
async function firstPost({ client, api }: Shop): Promise<void> {
  const call = await client.post('/orders', { json: { amount: 5 } })
  await until(() => api.held === 1)
  api.release()
  await call.outcome()
  await client.tab.page.waitForFunction(
    (origin) => performance.getEntriesByType('resource').some(({ name }) => name.startsWith(origin)),
    api.origin,
  )
  // Observers are told in a task of their own.
  await client.tab.page.evaluate(() => new Promise((later) => setTimeout(later, 100)))
}

describe('a burst of posts to a server that speaks HTTP/1.1', () => {
  it('waits before it is sent: no attempt runs out of time in the queue of the browser', async () => {
    const opened = await shop({ speaks: 'http/1.1' })
    const { api, client } = opened
    const calls = await burst(opened)
    expect(count(await client.tab.ask('events'), 'attempt.started')).toBe(CONNECTIONS)
    // Two waves, each shorter than an attempt may take, and together longer.
    for (const wave of [1, 2]) {
      await until(() => api.held === CONNECTIONS)
      expect(api.requests).toBe(wave * CONNECTIONS)
      await pause(3000)
      api.release()
    }
    await until(() => api.held === CONNECTIONS)
    api.releaseAll()
    expect(await outcomes(calls)).toEqual(['201'])
    expect(api.requests).toBe(POSTS)
  })
})

describe('a burst of posts to a server that speaks HTTP/2', () => {
  it('goes at once as soon as the page is shown so', async () => {
    const opened = await shop({ speaks: 'h2', showsTiming: true })
    const { api } = opened
    await firstPost(opened)
    const calls = await burst(opened)
    await until(() => api.held === POSTS)
    api.releaseAll()
    expect(await outcomes(calls)).toEqual(['201'])
    expect(api.requests).toBe(1 + POSTS)
  })

  it('goes six at a time if the server does not show its timing to other origins', async () => {
    const opened = await shop({ speaks: 'h2' })
    const { api, client } = opened
    await firstPost(opened)
    const calls = await burst(opened)
    expect(count(await client.tab.ask('events'), 'attempt.started')).toBe(1 + CONNECTIONS)
    await until(() => api.held === CONNECTIONS)
    api.releaseAll()
    expect(await outcomes(calls)).toEqual(['201'])
  })

  it('goes at once in a worker, too', async () => {
    const { api, pages, client } = await shop({ speaks: 'h2', showsTiming: true })
    const script = `
      import { createClient } from 'holdfast'
      const client = createClient({ baseUrl: '${api.origin}', journal: false })
      const order = () => client.post('/orders', { json: { amount: 5 } }).then(({ status }) => status)
      order().then(async () => {
        while (performance.getEntriesByType('resource').length === 0) await new Promise((next) => setTimeout(next, 20))
        await new Promise((next) => setTimeout(next, 100))
        postMessage([...new Set(await Promise.all(Array.from({ length: ${POSTS} }, order)))])
      })`
    pages.script('/worker.js', await bundled(script))
    const statuses = client.tab.page.evaluate(
      () => new Promise((resolve) => new Worker('/worker.js').addEventListener('message', ({ data }) => resolve(data))),
    )
    await until(() => api.held === 1)
    api.release()
    await until(() => api.held === POSTS)
    api.releaseAll()
    expect(await statuses).toEqual([201])
  })
})
