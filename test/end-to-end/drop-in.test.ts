import { getEventListeners } from 'node:events'
import { MockAgent } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { closedPort, httpServer, type TestServer } from '../support/transport-servers.ts'

const KEYED = { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } } as const
const platformFetch = globalThis.fetch

let server: TestServer | undefined
afterEach(async () => {
  globalThis.fetch = platformFetch
  await server?.close()
  server = undefined
})

function dropIn(options: ClientOptions = {}): typeof fetch {
  const client = createClient({ journal: memoryJournal(), retry: { base: 1, cap: 2 }, ...options })
  return client.fetch as typeof fetch
}

/** Sends the head and a first piece, then nothing more. */
async function stallingServer(): Promise<TestServer> {
  return httpServer((_request, response) => {
    response.writeHead(200).write('first')
  })
}

async function firstPiece(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('first')
  return reader
}

describe('an answer that is being read', () => {
  test.each([
    ['a GET', {}, {}],
    ['a GET of a client with a time limit', {}, { attemptTimeout: '10s' }],
    ['a journaled POST', KEYED, {}],
  ] as const)("ends with the caller's signal: %s", async (_, init, options) => {
    server = await stallingServer()
    const controller = new AbortController()
    const response = await dropIn(options)(server.origin, { ...init, signal: controller.signal })
    const reader = await firstPiece(response)
    controller.abort(new Error('enough'))
    await expect(reader.read()).rejects.toThrow('enough')
  })

  test('ends with the deadline of the client, and not with its attempt timeout', async () => {
    server = await stallingServer()
    const clock = manualClock()
    const response = await dropIn({ clock, attemptTimeout: 50, deadline: 400 })(server.origin)
    const reader = await firstPiece(response)
    const piece = reader.read()
    const before = Promise.race([piece, clock.sleep(399).then(() => 'still being read')])
    await clock.advance(400)
    expect(await before).toBe('still being read')
    await expect(piece).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('is not ended for others who share it by one who leaves', async () => {
    let finish = (): void => {}
    server = await httpServer((_request, response) => {
      response.writeHead(200).write('first')
      finish = () => response.end(' last')
    })
    const fetch = dropIn()
    const controller = new AbortController()
    const [one, other] = await Promise.all([
      fetch(server.origin, { ...KEYED, signal: controller.signal }),
      fetch(server.origin, KEYED),
    ])
    controller.abort()
    finish()
    expect([await one.text(), await other.text()]).toEqual(['first last', 'first last'])
    expect(server.seen).toHaveLength(1)
  })

  test('leaves no listener behind on a signal that outlives it', async () => {
    server = await httpServer((_request, response) => response.end('done'))
    const { signal } = new AbortController()
    const fetch = dropIn()
    for (let round = 0; round < 50; round += 1) {
      const init = { ...KEYED, headers: { 'idempotency-key': `k${round}` }, signal }
      await (await fetch(server.origin, init)).text()
    }
    expect(getEventListeners(signal, 'abort').length).toBeLessThan(5)
  })
})

describe('what the platform is given', () => {
  test('the signal of the caller itself, where nothing else can end the call', async () => {
    const seen: (AbortSignal | null | undefined)[] = []
    const fetch = dropIn({
      fetch: async (_input, init) => {
        seen.push(init?.signal)
        return new Response('ok')
      },
    })
    const { signal } = new AbortController()
    await fetch('http://127.0.0.1/', { signal })
    await fetch('http://127.0.0.1/', { ...KEYED, signal })
    expect([seen[0] === signal, seen[1] === signal]).toEqual([true, false])
  })

  test('the deadline of the request that is being served', async () => {
    const seen: AbortSignal[] = []
    const client = createClient({
      journal: memoryJournal(),
      fetch: (_input, init) => {
        seen.push(init?.signal as AbortSignal)
        return new Promise(() => {})
      },
    })
    const served = client.with({ deadlineAt: Date.now() + 50 })
    await expect(served.fetch('http://127.0.0.1/')).rejects.toMatchObject({ cause: { reason: 'deadline' } })
    expect(seen[0]?.aborted).toBe(true)
  })

  test('members that only this platform knows, and arguments of the shape that the caller chose', async () => {
    const seen: unknown[][] = []
    const fetch = dropIn({
      fetch: async (...args) => {
        seen.push(args)
        return new Response('ok')
      },
    })
    const extra = { next: { revalidate: 60 }, cf: { cacheTtl: 5 } }
    await fetch('http://127.0.0.1/a', { ...extra, cache: 'no-store' } as RequestInit)
    await fetch(new Request('http://127.0.0.1/b', { integrity: 'sha256-x' }))
    await fetch('http://127.0.0.1/c', new Request('http://127.0.0.1/', { method: 'PUT' }) as RequestInit)
    expect(seen[0]?.[0]).toBe('http://127.0.0.1/a')
    expect(seen[0]?.[1]).toMatchObject({ ...extra, cache: 'no-store' })
    expect(seen[1]?.[0]).toBeInstanceOf(Request)
    expect(seen[1]?.[0]).toMatchObject({ integrity: 'sha256-x' })
    expect(seen[2]?.[1]).toMatchObject({ method: 'PUT' })
  })

  test('the dispatcher of the client', async () => {
    const dispatcher = new MockAgent()
    dispatcher.disableNetConnect()
    dispatcher.get('http://mocked.test').intercept({ path: '/a' }).reply(200, 'from the mock')
    const fetch = dropIn({ dispatcher: dispatcher as never })
    expect(await (await fetch('http://mocked.test/a')).text()).toBe('from the mock')
    await dispatcher.close()
  })

  test('what was installed over it before a client was installed over that', async () => {
    server = await httpServer((_request, response) => response.end('ok'))
    let traced = 0
    globalThis.fetch = (...args) => {
      traced += 1
      return platformFetch(...args)
    }
    globalThis.fetch = dropIn()
    expect(await (await globalThis.fetch(server.origin)).text()).toBe('ok')
    expect(traced).toBe(1)
  })
})

describe('a refused connection', () => {
  test('certainly did nothing, so that a POST is tried again, without a key and with one', async () => {
    const port = await closedPort()
    for (const init of [{ method: 'POST', body: 'x' }, KEYED]) {
      const error = await dropIn({ retry: { base: 1, cap: 1, maxAttempts: 3 } })(
        `http://127.0.0.1:${port}`,
        init,
      ).catch((failed: Error) => failed)
      expect(error).toMatchObject({ name: 'TypeError', message: 'fetch failed' })
      const { cause } = error as Error
      expect(cause).toMatchObject({ effect: 'none', attempts: [{}, {}, {}] })
    }
  })

  test('after a redirect proves nothing', async () => {
    const port = await closedPort()
    server = await httpServer((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    )
    const error = await dropIn()(server.origin, { method: 'POST', body: 'x' }).catch((failed: Error) => failed)
    expect((error as Error).cause).toMatchObject({ effect: 'unknown', attempts: [{}] })
  })
})
