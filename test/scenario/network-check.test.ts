import { describe, expect, it } from 'vitest'
import { composeClient } from '../../src/client/compose-client.ts'
import { tabPeers } from '../../src/client/coordination/tab-peers.ts'
import { platform } from '../../src/client/platform/node.ts'
import { type Client, type ClientOptions, NotSentError } from '../../src/index.ts'
import { FakeTab } from '../support/fake-tab.ts'
import {
  LEASE_MS,
  leaveBehind,
  type Neighbourhood,
  neighbourhood,
  ORIGIN,
  outcome,
  settle,
} from '../support/shared-clients.ts'

const SECOND = 1000

/** A page whose browser says that it is offline, whether that is so or not. */
class OfflinePage {
  readonly place: Neighbourhood = neighbourhood()
  readonly tab = new FakeTab()
  /** What is asked while the browser says so: where, and after how many seconds. */
  readonly checks: string[] = []
  /** Is there a network? */
  isThere = true
  readonly #startedAt = this.place.clock.now()

  constructor() {
    this.tab.navigator.onLine = false
  }

  client(options?: ClientOptions): Client {
    const { clock, server, disk } = this.place
    const transport: typeof platform.transport = (resolved) => ({
      send: platform.transport(resolved).send,
      reaches: async (url) => {
        this.checks.push(`${url} ${(clock.now() - this.#startedAt) / SECOND}`)
        return this.isThere
      },
    })
    const coordination = () => tabPeers(this.tab, { clock })
    const own = { baseUrl: ORIGIN, journal: disk, clock, fetch: server.fetch }
    return composeClient({ ...platform, transport, coordination }, { ...own, ...options })
  }

  says(word: 'online' | 'offline'): void {
    this.tab.navigator.onLine = word === 'online'
    this.tab.say(word)
  }
}

describe('a browser that says it is offline although it is not', () => {
  it('is found out by one request that belongs to no operation, and everything that waits goes', async () => {
    const page = new OfflinePage()
    const { clock, server } = page.place
    const client = page.client()
    const calls = [1, 2, 3].map((number) => outcome(client.post(`/charges/${number}?a=b`, { body: 'one' })))
    await clock.advance(3 * SECOND - 1)
    expect([page.checks, server.calls.length]).toEqual([[], 0])
    await clock.advance(1)
    expect(page.checks).toEqual([`${ORIGIN}/charges/1?a=b 3`])
    for (const call of calls) expect((await call).value?.status).toBe(201)
    expect([server.calls.length, clock.pending()]).toEqual([3, 0])
  })

  it('is not believed until it says so again', async () => {
    const page = new OfflinePage()
    const { clock, server } = page.place
    const client = page.client()
    const first = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(3 * SECOND)
    await first
    await client.post('/charges', { body: 'two' })
    expect([page.checks.length, server.calls.length]).toEqual([1, 2])
    page.says('offline')
    const third = outcome(client.post('/charges', { body: 'three' }))
    await clock.advance(2 * SECOND)
    expect(server.calls).toHaveLength(2)
    await clock.advance(SECOND)
    expect((await third).value?.status).toBe(201)
    expect(page.checks).toHaveLength(2)
  })

  it('is found out later if there is no place for one more request', async () => {
    const page = new OfflinePage()
    const { clock, server } = page.place
    const client = page.client({ limits: { concurrency: 1 } })
    server.weather = () => 'hang-before'
    const read = outcome(client.get('/charges', { retry: false, attemptTimeout: '5s' }))
    await settle(clock)
    server.weather = () => 'fine'
    const call = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(9 * SECOND - 1)
    expect((await read).error).toBeDefined()
    expect(page.checks).toEqual([])
    await clock.advance(1)
    expect(page.checks).toHaveLength(1)
    expect((await call).value?.status).toBe(201)
  })

  it('does not keep a continuous resume from what is due', async () => {
    const page = new OfflinePage()
    const { clock, server } = page.place
    await leaveBehind(page.place)
    await clock.advance(LEASE_MS)
    const before = server.calls.length
    const client = page.client()
    const watching = client.resume({ continuous: true })
    await clock.advance(10 * SECOND)
    expect(server.calls).toHaveLength(before + 1)
    await client.close()
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('is found out at once by an explicit resume', async () => {
    const page = new OfflinePage()
    await leaveBehind(page.place)
    await page.place.clock.advance(LEASE_MS)
    expect(await page.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})

describe('a network that is really away', () => {
  it('is looked for with growing pauses, one request at a time, and no operation is sent or used up', async () => {
    const page = new OfflinePage()
    page.isThere = false
    const { clock, server } = page.place
    const client = page.client({ deadline: '2m' })
    const calls = Array.from({ length: 100 }, () => outcome(client.post('/charges', { body: 'one' })))
    await clock.advance(70 * SECOND)
    expect(page.checks.map((check) => check.split(' ')[1])).toEqual(['3', '9', '21', '36', '51', '66'])
    expect(server.calls).toHaveLength(0)
    page.says('online')
    await settle(clock)
    for (const call of calls) expect((await call).value?.status).toBe(201)
    expect(server.calls).toHaveLength(100)
    expect(server.calls.every(({ headers }) => headers['holdfast-attempt'] === '1')).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  it('ends a call at its deadline as not sent, and its gate knows of no failure', async () => {
    const page = new OfflinePage()
    page.isThere = false
    const { clock } = page.place
    const client = page.client({ deadline: '60s' })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(60 * SECOND)
    const { error } = await call
    expect(error).toBeInstanceOf(NotSentError)
    expect(error).toMatchObject({ reason: 'network', effect: 'none', attempts: [] })
    expect(page.checks).toHaveLength(5)
    page.says('online')
    // Five requests without an answer would be the silence of a server that hangs.
    const posts = Array.from({ length: 10 }, () => outcome(client.post('/charges', { body: 'two' })))
    await settle(clock)
    for (const post of posts) expect((await post).value?.status).toBe(201)
  })

  it('is not looked for while nothing waits', async () => {
    const page = new OfflinePage()
    page.isThere = false
    const { clock } = page.place
    const client = page.client({ deadline: '4s' })
    const watching = client.resume({ continuous: true })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(4 * SECOND)
    await call
    expect(page.checks).toHaveLength(1)
    await clock.advance(600 * SECOND)
    expect(page.checks).toHaveLength(1)
    await client.close()
    await watching
  })

  it('is waited for five seconds at most, if nothing says that it is away', async () => {
    const page = new OfflinePage()
    const { clock } = page.place
    const signals: AbortSignal[] = []
    const hangs = (_: string, signal: AbortSignal): Promise<boolean> => {
      signals.push(signal)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
    }
    const transport = () => ({
      send: platform.transport({ fetch: undefined, dispatcher: undefined }).send,
      reaches: hangs,
    })
    const own = { baseUrl: ORIGIN, journal: page.place.disk, clock }
    const client = composeClient({ ...platform, transport, coordination: () => tabPeers(page.tab, { clock }) }, own)
    const call = outcome(client.post('/charges', { body: 'one', deadline: '30s' }))
    await clock.advance(14 * SECOND - 1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await clock.advance(1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await clock.advance(20 * SECOND)
    expect((await call).error).toMatchObject({ reason: 'network', attempts: [] })
    expect(clock.pending()).toBe(0)
  })
})
