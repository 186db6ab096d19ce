import { describe, expect, test } from 'vitest'
import { fetchTransport } from '../../../../src/client/transport/fetch/fetch-transport.ts'
import type { DropIn } from '../../../../src/client/transport/port.ts'
import { NODE_MEANS } from '../../../../src/client/transport/undici/choose-node-transport.ts'
import {
  asFault,
  asResponse,
  bytes,
  drain,
  summary,
  text,
  transportRequest,
} from '../../../support/transport-request.ts'

const url = 'https://api.example/x'
/** As the platform's own fetch: its errors are believed. */
const byHand = { ...NODE_MEANS, sendsOnce: () => true }
const answering = (make: () => unknown) => fetchTransport(async () => make() as Response, byHand)

/** A response with properties that a constructor does not set. */
function withProperties(response: Response, properties: Record<string, unknown>): Response {
  for (const [name, value] of Object.entries(properties)) Object.defineProperty(response, name, { value })
  return response
}

function cancellable(): { stream: ReadableStream<Uint8Array>; cancelled: () => boolean } {
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes('x')),
    cancel: () => {
      cancelled = true
      // As one half of a stream that was split in two: it waits for the other half.
      return new Promise(() => {})
    },
  })
  return { stream, cancelled: () => cancelled }
}

describe('what fetch is given', () => {
  test('is method, headers, bytes, redirect mode and signal', async () => {
    let seen: unknown[] = []
    const transport = fetchTransport(async (input, init) => {
      seen = [input, init]
      return new Response(null, { status: 204 })
    })
    const body = bytes('{}')
    const { signal } = new AbortController()
    const headers = [
      ['x-a', '1'],
      ['x-a', '2'],
      ['content-type', 'application/json'],
    ] as const
    await transport.send(transportRequest(url, { method: 'POST', headers, body, signal, redirect: 'error' }))
    const [input, init] = seen as [string, RequestInit]
    expect(input).toBe(url)
    expect([...new Headers(init.headers)]).toEqual([
      ['content-type', 'application/json'],
      ['x-a', '1, 2'],
    ])
    expect(init).toMatchObject({ method: 'POST', redirect: 'error' })
    expect(init.body).toEqual(body)
    expect(init.signal).toBe(signal)
  })

  test('does not include a this, which a browser would refuse', async () => {
    let self: unknown = 'unset'
    const fetch = function (this: unknown): Promise<Response> {
      self = this
      return Promise.resolve(new Response('ok'))
    }
    await fetchTransport(fetch, byHand).send(transportRequest(url))
    expect(self).toBeUndefined()
  })
})

describe('an answer', () => {
  test('becomes plain values', async () => {
    const headers = new Headers({ 'X-Own': '1' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    const response = new Response('body', { status: 201, statusText: 'Created', headers })
    const outcome = asResponse(await answering(() => response).send(transportRequest(url)))
    expect(outcome).toMatchObject({ status: 201, statusText: 'Created', url, redirected: false })
    expect(outcome.headers).toEqual(
      expect.arrayContaining([
        ['x-own', '1'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ]),
    )
    expect(text(outcome.body)).toBe('body')
  })

  test('without body has none', async () => {
    const outcome = await answering(() => new Response(null, { status: 204 })).send(transportRequest(url))
    expect(asResponse(outcome).body).toBeNull()
  })

  test('of a fetch with streams of another kind is read all the same', async () => {
    const foreign = { status: 200, statusText: '', headers: new Headers(), type: 'basic', redirected: false, url }
    const outcome = await answering(() => ({
      ...foreign,
      body: { pipe: () => {} },
      arrayBuffer: async () => bytes('foreign').buffer,
    })).send(transportRequest(url))
    expect(text(asResponse(outcome).body)).toBe('foreign')
  })

  test("that is no answer is the program's fault", async () => {
    for (const nothing of [undefined, null, 'text', {}]) {
      const outcome = await answering(() => nothing).send(transportRequest(url))
      expect(asFault(outcome)).toMatchObject({ code: 'no-response', transient: false })
    }
  })

  test("that was read before is the program's fault", async () => {
    const used = new Response('x')
    await used.text()
    const outcome = await answering(() => used).send(transportRequest(url))
    expect(asFault(outcome)).toMatchObject({ code: 'used-body', transient: false, head: { status: 200 } })
  })

  test('that is hidden is a fault, unless the caller takes redirects by hand', async () => {
    const hidden = (): Response => withProperties(new Response(null), { status: 0, type: 'opaqueredirect' })
    const followed = await answering(hidden).send(transportRequest(url))
    expect(summary(followed)).toEqual({ code: 'opaque-response', mayHaveArrived: true, transient: false })
    const left = await answering(hidden).send(transportRequest(url, { redirect: 'manual' }))
    expect(asResponse(left).status).toBe(0)
  })

  test('that is an error is a network fault', async () => {
    const outcome = await answering(() => Response.error()).send(transportRequest(url))
    expect(summary(outcome)).toEqual({ code: 'network', mayHaveArrived: true, transient: true })
  })
})

describe('a redirect', () => {
  const redirected = (to: string, body: BodyInit): Response =>
    withProperties(new Response(body), { redirected: true, url: to })

  test('to a trusted origin is an answer', async () => {
    const response = redirected('https://other.example/y', 'ok')
    const outcome = await answering(() => response).send(transportRequest(url))
    expect(asResponse(outcome)).toMatchObject({ url: 'https://other.example/y', redirected: true })
  })

  test('to an origin that is not trusted is a fault, and its body is thrown away without waiting', async () => {
    const { stream, cancelled } = cancellable()
    const asked: string[] = []
    const trusts = (origin: string): boolean => {
      asked.push(origin)
      return false
    }
    const response = redirected('http://portal.example/login?token=secret', stream)
    const fault = asFault(await answering(() => response).send(transportRequest(url, { method: 'POST', trusts })))
    expect(fault).toMatchObject({ code: 'untrusted-redirect', mayHaveArrived: true, transient: true })
    expect(String(fault.cause)).not.toContain('secret')
    expect(asked).toEqual(['http://portal.example'])
    expect(cancelled()).toBe(true)
  })

  test('of a safe method that fetch has followed is an answer, wherever it comes from', async () => {
    const response = redirected('https://files.example/report', 'report')
    const outcome = await fetchTransport(async () => response).send(transportRequest(url, { trusts: () => false }))
    expect(asResponse(outcome)).toMatchObject({ status: 200, url: 'https://files.example/report', redirected: true })
  })
})

describe('redirects followed by hand', () => {
  const away = 'https://away.example/y'
  const headers = [
    ['authorization', 'Bearer x'],
    ['x-own', '1'],
  ] as const
  const post = { method: 'POST', headers, body: bytes('{"a":1}') }
  const moved = (status: number, location: string): Response => new Response('moved', { status, headers: { location } })
  const refused = (): Error =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })

  /** Plays answers in turn, and notes what each call was given. */
  function playing(steps: readonly (Response | Error)[]) {
    const calls: { url: unknown; init: RequestInit }[] = []
    const transport = fetchTransport(async (input, init = {}) => {
      const step = steps[calls.push({ url: input, init }) - 1]
      if (step instanceof Response) return step
      throw step
    }, byHand)
    return { transport, calls }
  }

  test('are not asked of fetch, and lead to the answer at their end', async () => {
    const { transport, calls } = playing([moved(307, '/b'), moved(307, away), new Response('there')])
    const outcome = asResponse(await transport.send(transportRequest(url, post)))
    expect(outcome).toMatchObject({ status: 200, url: away, redirected: true })
    expect(text(outcome.body)).toBe('there')
    expect(calls.map((call) => [call.url, call.init.redirect])).toEqual([
      [url, 'manual'],
      ['https://api.example/b', 'manual'],
      [away, 'manual'],
    ])
    expect(calls.map(({ init }) => new Headers(init.headers).get('authorization'))).toEqual([
      'Bearer x',
      'Bearer x',
      null,
    ])
    expect(calls.map(({ init }) => text(init.body as Uint8Array))).toEqual(new Array(3).fill('{"a":1}'))
  })

  test('turn a POST that was done into a GET without its body', async () => {
    const { transport, calls } = playing([moved(303, '/b'), new Response('there')])
    await transport.send(transportRequest(url, post))
    expect(calls[1]?.init).toMatchObject({ method: 'GET', body: null })
  })

  test('never reach an origin that is not trusted, and the answer is thrown away', async () => {
    const { stream, cancelled } = cancellable()
    const response = new Response(stream, { status: 302, headers: { location: `${away}?token=secret` } })
    const { transport, calls } = playing([response])
    const fault = asFault(await transport.send(transportRequest(url, { ...post, trusts: () => false })))
    expect(fault).toMatchObject({ code: 'untrusted-redirect', mayHaveArrived: true, transient: true })
    expect(String(fault.cause)).not.toContain('secret')
    expect(calls).toHaveLength(1)
    expect(cancelled()).toBe(true)
  })

  test('let go of a body that is a stream of another kind', async () => {
    let destroyed = false
    const foreign = { status: 302, headers: new Headers({ location: '/b' }), redirected: false }
    const body = { pipe: () => {}, destroy: () => (destroyed = true) }
    await answering(() => ({ ...foreign, body })).send(transportRequest(url, { trusts: () => false }))
    expect(destroyed).toBe(true)
  })

  test('may have arrived once the first hop was answered', async () => {
    const first = await playing([refused()]).transport.send(transportRequest(url, post))
    expect(asFault(first).mayHaveArrived).toBe(false)
    const later = await playing([moved(303, '/b'), refused()]).transport.send(transportRequest(url, post))
    expect(asFault(later).mayHaveArrived).toBe(true)
  })

  test('stop at an abort between two hops', async () => {
    const controller = new AbortController()
    let calls = 0
    const transport = fetchTransport(async () => {
      calls += 1
      return moved(307, '/b')
    }, byHand)
    const trusts = (): boolean => {
      controller.abort('enough')
      return true
    }
    const outcome = await transport.send(transportRequest(url, { ...post, signal: controller.signal, trusts }))
    expect(asFault(outcome)).toMatchObject({ code: 'aborted', mayHaveArrived: true, cause: 'enough' })
    expect(calls).toBe(1)
  })

  test('are left to the caller who wants them, and refused for the one who does not', async () => {
    const left = await playing([moved(302, '/b')]).transport.send(transportRequest(url, { redirect: 'manual' }))
    expect(asResponse(left)).toMatchObject({ status: 302, redirected: false })
    const none = await playing([moved(302, '/b')]).transport.send(transportRequest(url, { ...post, redirect: 'error' }))
    expect(summary(none)).toEqual({ code: 'redirect-refused', mayHaveArrived: true, transient: false })
  })

  test('a fetch that follows all the same is checked, and its refused connections are not believed from then on', async () => {
    const followed = withProperties(new Response('there'), { redirected: true, url: away })
    const { transport } = playing([refused(), followed, refused()])
    expect(asFault(await transport.send(transportRequest(url, post))).mayHaveArrived).toBe(false)
    const outcome = await transport.send(transportRequest(url, { ...post, trusts: () => false }))
    expect(asFault(outcome).code).toBe('untrusted-redirect')
    expect(asFault(await transport.send(transportRequest(url, post))).mayHaveArrived).toBe(true)
  })

  /** A body that can be sent once: its redirects are left to the platform. */
  const streamed: DropIn = {
    arguments: () => ({ input: url, init: { method: 'POST' } }),
    isRepeatable: () => false,
    isOnce: true,
    headers: new Headers(),
    signal: undefined,
    endedBy: 'caller',
    keyed: false,
  }

  test('where fetch follows, a refused connection may be that of a later hop', async () => {
    for (const [redirect, mayHaveArrived] of [
      ['follow', true],
      ['manual', false],
      ['error', false],
    ] as const) {
      const { transport, calls } = playing([refused()])
      const outcome = await transport.send(transportRequest(url, { ...post, redirect, dropIn: streamed }))
      expect(asFault(outcome).mayHaveArrived, redirect).toBe(mayHaveArrived)
      expect(calls[0]?.init.redirect ?? 'follow').toBe(redirect)
    }
  })

  test('a fetch that takes our bytes for itself gets a copy', async () => {
    const body = bytes('{"a":1}')
    const sent: (string | null)[] = []
    const transport = fetchTransport(async (_, init) => {
      const given = init?.body as Uint8Array<ArrayBuffer>
      sent.push(text(given))
      structuredClone(given.buffer, { transfer: [given.buffer] })
      return sent.length === 1 ? moved(308, '/b') : new Response('there')
    }, byHand)
    asResponse(await transport.send(transportRequest(url, { ...post, body })))
    expect([...sent, text(body)]).toEqual(new Array(3).fill('{"a":1}'))
  })
})

describe('a long body', () => {
  test('is cancelled at its source when its reader has enough', async () => {
    const { stream, cancelled } = cancellable()
    const outcome = await answering(() => new Response(stream)).send(transportRequest(url, { bodyLimit: 0 }))
    void asResponse(outcome).rest?.cancel()
    expect(cancelled()).toBe(true)
  })

  test('comes whole, chunk by chunk', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let index = 0; index < 10; index += 1) controller.enqueue(bytes('0123456789'))
        controller.close()
      },
    })
    const outcome = await answering(() => new Response(stream)).send(transportRequest(url, { bodyLimit: 35 }))
    expect(asResponse(outcome).body).toBeNull()
    expect(await drain(asResponse(outcome).rest)).toBe(100)
  })
})

describe('an abort', () => {
  test('before the call means that fetch is not called', async () => {
    let called = false
    const transport = fetchTransport(async () => {
      called = true
      return new Response()
    }, byHand)
    const outcome = await transport.send(transportRequest(url, { signal: AbortSignal.abort() }))
    expect(summary(outcome)).toEqual({ code: 'aborted', mayHaveArrived: false, transient: true })
    expect(called).toBe(false)
  })

  test('ends also a fetch that takes no notice, and a late answer is thrown away', async () => {
    const controller = new AbortController()
    const { stream, cancelled } = cancellable()
    let answer: (response: Response) => void = () => {}
    const transport = fetchTransport(() => new Promise((resolve) => (answer = resolve)), byHand)
    const pending = transport.send(transportRequest(url, { signal: controller.signal }))
    controller.abort('enough')
    expect(asFault(await pending)).toMatchObject({ code: 'aborted', mayHaveArrived: true, cause: 'enough' })
    answer(new Response(stream))
    await new Promise((resolve) => setImmediate(resolve))
    expect(cancelled()).toBe(true)
  })

  test('ends also a body that takes no notice', async () => {
    const controller = new AbortController()
    const { stream, cancelled } = cancellable()
    const pending = answering(() => new Response(stream)).send(transportRequest(url, { signal: controller.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort('enough')
    expect(asFault(await pending)).toMatchObject({ code: 'aborted', head: { status: 200 } })
    expect(cancelled()).toBe(true)
  })
})

test('a fetch that throws at once is a fault like one that rejects', async () => {
  const transport = fetchTransport(() => {
    throw new TypeError('Failed to fetch')
  }, byHand)
  expect(asFault(await transport.send(transportRequest(url)))).toMatchObject({ code: 'network', transient: true })
})
