import { describe, expect, it } from 'vitest'
import { composeClient } from '../../src/client/compose-client.ts'
import { platform } from '../../src/client/platform/node.ts'
import { fetchTransport } from '../../src/client/transport/fetch/fetch-transport.ts'
import { sendInPage } from '../../src/client/transport/fetch/send-in-page.ts'
import { type Client, type ClientOptions, memoryJournal } from '../../src/index.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { failure, ORIGIN, rowsOf } from '../support/client-scenario.ts'

const CONNECTIONS = 6
const SECOND = 1000

/** A browser that speaks HTTP/1.1: six requests are on the wire, and further ones wait in its own queue. */
class BrowserQueue {
  readonly clock: ManualClock = manualClock()
  /** Does the body of an answer come only as it is read? */
  isStreaming = false
  /** Requests that are on the wire or in the queue. */
  begun = 0
  most = 0
  arrived = 0
  #busy = 0
  readonly #waiting = new Set<() => void>()

  readonly fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    this.most = Math.max(this.most, ++this.begun)
    try {
      if (this.#busy >= CONNECTIONS) await this.#turn(init.signal)
    } catch (error) {
      this.begun--
      throw error
    }
    this.#busy++
    this.arrived++
    await this.clock.sleep(SECOND)
    if (!this.isStreaming) this.#end()
    return new Response(this.isStreaming ? this.#stream() : '{}', { status: 201 })
  }

  #stream(): ReadableStream<Uint8Array> {
    const chunks = [new Uint8Array(2000)]
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      const chunk = chunks.shift()
      if (chunk) controller.enqueue(chunk)
      else {
        controller.close()
        this.#end()
      }
    }
    return new ReadableStream({ pull, cancel: () => this.#end() }, { highWaterMark: 0 })
  }

  #end(): void {
    this.begun--
    this.#busy--
    for (const next of [...this.#waiting].slice(0, 1)) next()
  }

  #turn(signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        this.#waiting.delete(next)
        resolve()
      }
      this.#waiting.add(next)
      signal?.addEventListener('abort', () => {
        this.#waiting.delete(next)
        reject(signal.reason)
      })
    })
  }
}

interface Page {
  readonly browser: BrowserQueue
  /** How many connections the client believes in. */
  connections: number
  client(options?: ClientOptions): Client
}

function page(): Page {
  const browser = new BrowserQueue()
  const { clock } = browser
  const opened: Page = {
    browser,
    connections: CONNECTIONS,
    client(options) {
      const connectionsTo = (): number => opened.connections
      const transport = () => fetchTransport(browser.fetch, { send: sendInPage, connectionsTo })
      const own = { baseUrl: ORIGIN, journal: memoryJournal(), clock, random: seededRandom(7) }
      return composeClient({ ...platform, transport }, { ...own, ...options })
    },
  }
  return opened
}

/** What became of so many calls, and after how long. */
async function fate(calls: readonly PromiseLike<Response>[], clock: ManualClock): Promise<unknown[]> {
  const ended = Promise.allSettled(calls)
  await clock.advance(60 * SECOND)
  return (await ended).map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.reason))
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

describe('more calls than the browser has connections', () => {
  it('wait before they are sent, and none runs out of time in the queue of the browser', async () => {
    const { browser, client } = page()
    const posting = client()
    const calls = times(120, (index) => posting.post('/charges', { json: { index } }))
    expect(await fate(calls, browser.clock)).toEqual(times(120, () => 201))
    expect([browser.most, browser.arrived]).toEqual([CONNECTIONS, 120])
  })

  it('count whatever they are: reads, posts, client.fetch', async () => {
    const { browser, client } = page()
    const mixed = client({ attemptTimeout: '3s' })
    const kinds = [() => mixed.get('/'), () => mixed.post('/charges'), () => mixed.fetch(`${ORIGIN}/`)]
    const calls = times(30, (index) => kinds[index % 3]?.() as PromiseLike<Response>)
    expect(await fate(calls, browser.clock)).toEqual(times(30, () => 201))
    expect(browser.most).toBe(CONNECTIONS)
  })

  it('all go once the server is known to speak HTTP/2', async () => {
    const opened = page()
    const { browser } = opened
    const client = opened.client()
    const calls = times(50, () => client.get('/'))
    await browser.clock.advance(SECOND / 2)
    expect(browser.begun).toBe(CONNECTIONS)
    opened.connections = Number.POSITIVE_INFINITY
    await browser.clock.advance(SECOND / 2)
    expect(browser.begun).toBe(50 - CONNECTIONS)
    await fate(calls, browser.clock)
  })

  it('are not held up where nobody knows of connections', async () => {
    const opened = page()
    opened.connections = Number.POSITIVE_INFINITY
    const { browser } = opened
    const client = opened.client()
    const calls = times(50, () => client.get('/'))
    await browser.clock.advance(0)
    expect(browser.begun).toBe(50)
    await fate(calls, browser.clock)
  })

  it('say that nothing was sent if their deadline passes before it is their turn', async () => {
    const { browser, client } = page()
    const posting = client({ deadline: '1.5s' })
    const calls = times(CONNECTIONS * 2 + 1, () => posting.post('/charges'))
    const last = failure(calls.at(-1) as PromiseLike<Response>)
    for (const call of calls) call.catch(() => {})
    await browser.clock.advance(2 * SECOND)
    expect(await last).toMatchObject({ effect: 'none', reason: 'deadline', attempts: [] })
  })
})

describe('a post that waits for a connection', () => {
  it('is not on record as sent', async () => {
    const { browser, client } = page()
    const journal = memoryJournal()
    const posting = client({ journal })
    const calls = times(CONNECTIONS + 2, () => posting.post('/charges'))
    await browser.clock.advance(SECOND / 2)
    const inFlight = (await rowsOf(journal)).map(({ head }) => head.includes('"inFlightSince"'))
    expect(inFlight).toEqual(times(CONNECTIONS + 2, (index) => index < CONNECTIONS))
    expect(await fate(calls, browser.clock)).toEqual(times(CONNECTIONS + 2, () => 201))
  })
})

describe('an answer that is a stream', () => {
  it('keeps its connection until it was read', async () => {
    const { browser, client } = page()
    browser.isStreaming = true
    const reading = client({ maxResponseBytes: 1000 })
    const streams = times(CONNECTIONS, () => reading.get('/large'))
    await browser.clock.advance(SECOND)
    const answers = await Promise.all(streams)
    const next = reading.get('/large')
    await browser.clock.advance(5 * SECOND)
    expect(browser.begun).toBe(CONNECTIONS)
    await answers[0]?.arrayBuffer()
    await browser.clock.advance(SECOND)
    expect((await next).status).toBe(201)
    await Promise.all([...answers.slice(1), await next].map((answer) => answer.body?.cancel()))
    expect(browser.begun).toBe(0)
  })
})
