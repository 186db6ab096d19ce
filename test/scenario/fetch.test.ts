import { describe, expect, it } from 'vitest'
import { createClient, isHoldfastError, memoryJournal, NotSentError } from '../../src/index.ts'
import { elapse, ORIGIN, rejection, rowsOf, scenario } from '../support/client-scenario.ts'

const MINUTE = 60_000
const post = { method: 'POST', body: 'x' } as const

describe('client.fetch', () => {
  it('resolves with any final status, as fetch does', async () => {
    for (const status of [200, 201, 204, 301, 304, 400, 401, 404, 409, 422, 451, 501]) {
      const { client } = scenario([
        { status, body: status === 204 || status === 304 ? null : 'body', headers: { 'x-a': '1' } },
      ])
      const response = await client.fetch('/a', post)
      expect(response).toBeInstanceOf(Response)
      expect([response.status, response.ok, response.headers.get('x-a')]).toEqual([status, status < 300, '1'])
      expect(response.url).toBe(`${ORIGIN}/a`)
      expect(await response.text()).toBe(status === 204 || status === 304 ? '' : 'body')
    }
  })

  it('retries, and resolves with the last answer where the attempts are used up', async () => {
    for (const status of [429, 500, 503]) {
      const { client, clock, fetch } = scenario(() => ({ status, body: 'down' }), { honoursKeys: true })
      const response = await elapse(clock, MINUTE, client.fetch('/a', post))
      expect([response.status, await response.text()]).toEqual([status, 'down'])
      expect(fetch.calls).toHaveLength(5)
    }
  })

  it('gives the answer that it has when no token comes within a blip: the caller has a deadline that we do not know', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 429 }), { budget: {} })
    const response = await elapse(clock, 6000, client.fetch('/a'))
    expect([response.status, fetch.calls.length]).toEqual([429, 3])
  })

  it('waits for its turn under `limits` however long that takes', async () => {
    const { client, clock } = scenario(() => ({ status: 200 }), { limits: { perSecond: 1 } })
    const all = Promise.all(Array.from({ length: 60 }, () => client.fetch('/a').then(({ status }) => status)))
    expect(new Set(await elapse(clock, MINUTE, all))).toEqual(new Set([200]))
  })

  it('rejects with a TypeError that carries the HoldfastError where no answer came', async () => {
    for (const fault of ['refused', 'reset', 'dns', 'timeout'] as const) {
      const { client, clock } = scenario(() => ({ fault }), { honoursKeys: true })
      const error = await elapse(clock, MINUTE, rejection(client.fetch('/a', post)))
      expect(error).toBeInstanceOf(TypeError)
      expect((error as Error).constructor).toBe(TypeError)
      expect((error as Error).name).toBe('TypeError')
      const { cause } = error as Error
      expect(isHoldfastError(cause)).toBe(true)
      expect(cause).toMatchObject({
        reason: 'attempts',
        effect: fault === 'refused' || fault === 'dns' ? 'none' : 'unknown',
      })
    }
  })

  it('shows the code of the platform on the cause, as fetch does, and ours beside it', async () => {
    const { client, clock } = scenario(() => ({ fault: 'refused' }), { honoursKeys: true })
    const { cause } = (await elapse(clock, MINUTE, rejection(client.fetch('/a', post)))) as Error
    expect(cause).toMatchObject({ name: 'NotSentError', code: 'ECONNREFUSED', holdfastCode: 'HOLDFAST_NOT_SENT' })
    expect(isHoldfastError(cause) && [cause.effect, cause.attempts.length]).toEqual(['none', 5])
    expect(cause).toBeInstanceOf(NotSentError)
  })

  it('has our code on the cause where the platform has none', async () => {
    const { client, clock } = scenario(() => ({ fault: new TypeError('Failed to fetch') }), { honoursKeys: true })
    const { cause } = (await elapse(clock, MINUTE, rejection(client.fetch('/a', post)))) as Error
    expect(cause).toMatchObject({ code: 'HOLDFAST_INDETERMINATE' })
  })

  it('rejects where the last attempt got no answer, also where one before did', async () => {
    const options = { retry: { maxAttempts: 2 }, honoursKeys: true }
    const { client, clock } = scenario([{ status: 503 }, { fault: 'reset' }], options)
    const error = await elapse(clock, MINUTE, rejection(client.fetch('/a', post)))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).cause).toMatchObject({
      name: 'IndeterminateError',
      attempts: [{ status: 503 }, { fault: 'ECONNRESET' }],
    })
  })

  it('rejects with a TypeError for wrong input, as fetch does, and never throws', async () => {
    const { client, fetch } = scenario([])
    const wrong: (() => Promise<Response>)[] = [
      () => client.fetch('http://'),
      () => client.fetch('/a', { method: 'GET', body: 'x' }),
      () => client.fetch('/a', { method: 'not a method' }),
      () => client.fetch('/a', { headers: { 'x-a': 'b\r\nc' } }),
      () => client.fetch('https://user:pass@x/'),
    ]
    for (const call of wrong) expect(await rejection(call())).toBeInstanceOf(TypeError)
    expect(fetch.calls).toHaveLength(0)
  })

  it('waits for as long as it takes, unless the client was given a time limit', async () => {
    const slow = () => ({ status: 200, body: 'at last', delay: 10 * MINUTE })
    const { client, clock, fetch } = scenario(slow)
    for (const init of [undefined, post]) {
      const response = await elapse(clock, 10 * MINUTE, client.fetch('/a', init))
      expect(await response.text()).toBe('at last')
    }
    expect(fetch.calls).toHaveLength(2)
    for (const { headers } of fetch.calls) expect(Number(headers['request-timeout-ms'] ?? 0)).toBeLessThan(86_400_000)
    const limited = scenario(slow, { attemptTimeout: '5s', deadline: '20s' })
    expect(await elapse(limited.clock, MINUTE, rejection(limited.client.fetch('/a')))).toBeInstanceOf(TypeError)
    const impatient = scenario(slow)
    const verb = rejection(impatient.client.get('/a', { retry: false }))
    expect(await elapse(impatient.clock, MINUTE, verb)).toMatchObject({ name: 'IndeterminateError' })
  })

  it("rejects with the signal's own reason when aborted", async () => {
    const { client, clock } = scenario(() => ({ hang: true }))
    const controller = new AbortController()
    const own = rejection(client.fetch('/a', { ...post, signal: controller.signal }))
    const plain = new AbortController()
    const standard = rejection(client.fetch(new Request(`${ORIGIN}/a`, { signal: plain.signal })))
    await clock.advance(5)
    const reason = new Error('mine')
    controller.abort(reason)
    plain.abort()
    expect(await elapse(clock, 50, own)).toBe(reason)
    expect(await elapse(clock, 50, standard)).toMatchObject({ name: 'AbortError' })
  })

  it('takes strings, URLs and Request objects; what init says wins', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.fetch('/a')
    await client.fetch(new URL('/b', ORIGIN))
    await client.fetch(new Request(`${ORIGIN}/c`, { method: 'PUT', body: 'from request', headers: { 'x-a': '1' } }))
    await client.fetch(new Request(`${ORIGIN}/d`, { method: 'PUT', body: 'old', headers: { 'x-a': '1' } }), {
      method: 'POST',
      body: 'new',
      headers: { 'x-b': '2' },
    })
    expect(fetch.calls.map(({ method, url, text }) => [method, url, text])).toEqual([
      ['GET', `${ORIGIN}/a`, ''],
      ['GET', `${ORIGIN}/b`, ''],
      ['PUT', `${ORIGIN}/c`, 'from request'],
      ['POST', `${ORIGIN}/d`, 'new'],
    ])
    expect(fetch.calls[2]?.headers).toMatchObject({ 'x-a': '1', 'content-type': 'text/plain;charset=UTF-8' })
    expect(fetch.calls[3]?.headers).toMatchObject({ 'x-b': '2' })
    expect(fetch.calls[3]?.headers).not.toHaveProperty('x-a')
  })

  it('retries a Request with a body, byte for byte', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 200 }], { honoursKeys: true })
    const form = new FormData()
    form.append('a', 'b')
    await elapse(clock, MINUTE, client.fetch(new Request(`${ORIGIN}/a`, { method: 'POST', body: form })))
    expect(fetch.calls).toHaveLength(2)
    expect(fetch.calls[0]?.text).toBe(fetch.calls[1]?.text)
    expect(fetch.calls[0]?.headers['content-type']).toBe(fetch.calls[1]?.headers['content-type'])
  })

  it('refuses a Request whose body is used', async () => {
    const { client, fetch } = scenario([])
    const used = new Request(`${ORIGIN}/a`, post)
    await used.text()
    expect(await rejection(client.fetch(used))).toBeInstanceOf(TypeError)
    expect(fetch.calls).toHaveLength(0)
  })

  it('journals and keys what it sends, and adopts a key that an SDK has set', async () => {
    const { client, clock, fetch, journal } = scenario([{ status: 503 }, { hang: true }])
    const pending = client.fetch('/a', { ...post, headers: { 'Idempotency-Key': 'stripe-node-retry-1' } })
    pending.catch(() => {})
    await clock.advance(1000)
    expect(fetch.calls.map((call) => call.headers['idempotency-key'])).toEqual([
      'stripe-node-retry-1',
      'stripe-node-retry-1',
    ])
    expect(await rowsOf(journal)).toMatchObject([{ key: 'stripe-node-retry-1' }])
    await client.cancel('stripe-node-retry-1')
  })

  it('follows a redirect, gives it, or rejects, as asked', async () => {
    const client = createClient({
      baseUrl: ORIGIN,
      journal: memoryJournal(),
      retry: { base: 0, cap: 0 },
      fetch: async (input, init) => {
        const { redirect } = new Request(input, init)
        const whole = { url: { value: `${ORIGIN}/b` }, redirected: { value: redirect === 'follow' } }
        if (String(input).endsWith('/b') || redirect === 'follow') {
          return Object.defineProperties(new Response('b'), whole)
        }
        if (redirect === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
        return new Response(null, { status: 302, headers: { location: '/b' } })
      },
    })
    const followed = await client.fetch('/a')
    expect([followed.status, followed.url, followed.redirected, await followed.text()]).toEqual([
      200,
      `${ORIGIN}/b`,
      true,
      'b',
    ])
    for (const given of [
      client.fetch('/a', { redirect: 'manual' }),
      client.fetch(new Request(`${ORIGIN}/a`, { redirect: 'manual' })),
    ]) {
      const response = await given
      expect([response.status, response.headers.get('location')]).toEqual([302, '/b'])
    }
    expect(await rejection(client.fetch('/a', { redirect: 'error' }))).toBeInstanceOf(TypeError)
  })

  it('gives a redirect that a browser hides as the browser does', async () => {
    const hidden = Object.defineProperties(new Response(null), {
      status: { value: 0 },
      type: { value: 'opaqueredirect' },
      ok: { value: false },
    })
    const client = createClient({ baseUrl: ORIGIN, journal: memoryJournal(), fetch: async () => hidden })
    const response = await client.fetch('/a', { redirect: 'manual' })
    expect(response.status).toBe(0)
    expect(response.ok).toBe(false)
  })

  it('delivers an event stream as it comes', async () => {
    let push: (text: string) => void = () => {}
    let end: () => void = () => {}
    const stream = new ReadableStream({
      start(controller) {
        push = (text) => controller.enqueue(new TextEncoder().encode(text))
        end = () => controller.close()
      },
    })
    const { client, clock } = scenario([
      () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
    ])
    const response = await client.fetch('/a', post)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    push('data: 1\n\n')
    expect(await reader?.read()).toEqual({ done: false, value: 'data: 1\n\n' })
    push('data: 2\n\n')
    expect(await reader?.read()).toEqual({ done: false, value: 'data: 2\n\n' })
    end()
    expect((await reader?.read())?.done).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  it('lets a stream that is no longer wanted be cancelled', async () => {
    let cancelled = 0
    const stream = new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(8)), cancel: () => void cancelled++ })
    const { client, clock } = scenario([
      () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
    ])
    const response = await client.fetch('/a')
    await response.body?.cancel()
    expect(cancelled).toBe(1)
    expect(clock.pending()).toBe(0)
  })

  it('delivers an answer larger than maxResponseBytes whole, and records it without its body', async () => {
    const { client, journal } = scenario(
      [
        { status: 200, body: 'x'.repeat(100) },
        { status: 404, body: 'y'.repeat(100) },
      ],
      {
        maxResponseBytes: 10,
      },
    )
    expect(await (await client.fetch('/a', post)).text()).toBe('x'.repeat(100))
    expect(await (await client.fetch('/a', post)).text()).toBe('y'.repeat(100))
    const other = scenario([{ status: 200, body: 'z'.repeat(100) }], { maxResponseBytes: 10, journal })
    expect(await other.client.post('/a', { id: 'x' }).text()).toBe('z'.repeat(100))
    const [row] = await rowsOf(journal)
    expect(row).toMatchObject({ status: 'succeeded', responseBody: null })
    expect(JSON.parse(row?.head ?? '{}')).toMatchObject({ response: { status: 200, bodyOmitted: true } })
  })

  it('records an answer of exactly maxResponseBytes', async () => {
    const { client, journal } = scenario([{ status: 200, body: 'x'.repeat(10) }], { maxResponseBytes: 10 })
    await client.post('/a', { id: 'x' })
    expect((await rowsOf(journal))[0]?.responseBody?.length).toBe(10)
  })
})
