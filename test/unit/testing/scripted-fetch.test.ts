import { describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { scriptedFetch } from '../../../src/testing/scripted-fetch.ts'

const URL_A = 'https://api.example.com/charges'

describe('scriptedFetch', () => {
  it('plays its steps in order and records the calls', async () => {
    const clock = manualClock(5000)
    const fetch = scriptedFetch([{ status: 503, headers: { 'Retry-After': '1' } }, { json: { ok: true } }], { clock })
    const first = await fetch(URL_A, { method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: 'hello' })
    await clock.advance(100)
    const second = await fetch(new URL(URL_A))

    expect([first.status, first.headers.get('retry-after'), first.url]).toEqual([503, '1', URL_A])
    expect([second.status, second.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await second.json()).toEqual({ ok: true })
    expect(fetch.calls).toMatchObject([
      { method: 'POST', url: URL_A, headers: { 'idempotency-key': 'k1' }, text: 'hello', at: 5000 },
      { method: 'GET', url: URL_A, text: '', at: 5100 },
    ])
    expect(fetch.calls[0]?.body).toEqual(new TextEncoder().encode('hello'))
  })

  it('takes a Request and keeps binary bodies as they are', async () => {
    const fetch = scriptedFetch([{ status: 204 }])
    const body = new Uint8Array([0, 255, 128, 10])
    await fetch(new Request(URL_A, { method: 'PUT', body }))
    expect(fetch.calls[0]).toMatchObject({ method: 'PUT', body })
  })

  it('knows of a call at once, before the body is read', () => {
    const fetch = scriptedFetch([{ hang: true }])
    void fetch(URL_A).catch(() => {})
    expect(fetch.calls).toHaveLength(1)
  })

  it.each([
    ['refused', 'ECONNREFUSED'],
    ['reset', 'ECONNRESET'],
    ['timeout', 'UND_ERR_HEADERS_TIMEOUT'],
    ['dns', 'ENOTFOUND'],
  ] as const)('rejects as the fetch of Node does when the network says %s', async (fault, code) => {
    const error = await scriptedFetch([{ fault }])(URL_A).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: 'fetch failed', cause: { code } })
  })

  it('rejects with an error of the caller as it is', async () => {
    const fault = new RangeError('mine')
    await expect(scriptedFetch([{ fault }])(URL_A)).rejects.toBe(fault)
  })

  it('waits on the clock it was given', async () => {
    const clock = manualClock(0)
    const fetch = scriptedFetch([{ delay: 50, status: 201 }], { clock })
    let status = 0
    void fetch(URL_A).then((response) => {
      status = response.status
    })
    await clock.advance(49)
    expect(status).toBe(0)
    await clock.advance(1)
    expect(status).toBe(201)
  })

  it('hangs until it is aborted and then gives the reason of the signal', async () => {
    const controller = new AbortController()
    const hanging = scriptedFetch([{ hang: true }])(URL_A, { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(hanging).rejects.toBe(reason)
  })

  it('can be aborted during a delay', async () => {
    const controller = new AbortController()
    const clock = manualClock()
    const waiting = scriptedFetch([{ delay: 50 }], { clock })(URL_A, { signal: controller.signal })
    const outcome = waiting.catch((error: unknown) => error)
    await clock.advance(10)
    controller.abort('enough')
    expect(await outcome).toBe('enough')
    expect(clock.pending()).toBe(0)
  })

  it('sends nothing and uses no step where the signal has aborted before', async () => {
    const fetch = scriptedFetch([{ status: 200 }])
    await expect(fetch(URL_A, { signal: AbortSignal.abort('before') })).rejects.toBe('before')
    expect(fetch.calls).toHaveLength(0)
    expect((await fetch(URL_A)).status).toBe(200)
  })

  it('stalls in the body after its head and first bytes', async () => {
    const controller = new AbortController()
    const fetch = scriptedFetch([{ status: 200, stallBody: true, body: 'half' }])
    const response = await fetch(URL_A, { signal: controller.signal })
    const reader = response.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('half')
    const rest = reader?.read()
    controller.abort('enough')
    await expect(rest).rejects.toBe('enough')
  })

  it('asks a function, which sees the call and its number', async () => {
    const fetch = scriptedFetch([
      (call, n) => ({ status: 200, body: `${n}:${call.text}` }),
      (_, n) => new Response(`plain ${n}`, { status: 202 }),
    ])
    expect(await (await fetch(URL_A, { method: 'POST', body: 'a' })).text()).toBe('1:a')
    expect(await (await fetch(URL_A)).text()).toBe('plain 2')
  })

  it('lets one function play for every call', async () => {
    const fetch = scriptedFetch((_, n) => (n < 3 ? { fault: 'reset' } : { status: 200 }))
    await expect(fetch(URL_A)).rejects.toThrow()
    await expect(fetch(URL_A)).rejects.toThrow()
    expect((await fetch(URL_A)).status).toBe(200)
  })

  it('repeats its last step where that says so', async () => {
    const fetch = scriptedFetch([{ status: 500 }, { status: 200, body: 'same', repeat: true }])
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await fetch(URL_A)).status)
    expect(statuses).toEqual([500, 200, 200, 200])
    expect(await (await fetch(URL_A)).text()).toBe('same')
  })

  it('says which call it has no step for', async () => {
    const fetch = scriptedFetch([{ status: 200 }])
    await fetch(URL_A)
    const error = await fetch(URL_A, { method: 'DELETE' }).catch((reason: unknown) => reason)
    expect(error).not.toBeInstanceOf(TypeError)
    expect(String(error)).toContain(`given 1 step and has none for call 2: DELETE ${URL_A}`)
  })

  it('ends a call at once for which it has no step: that is no fault of the network', async () => {
    const fetch = scriptedFetch([])
    const client = createClient({ baseUrl: URL_A, fetch, journal: memoryJournal() })
    const error = await client.post('/').catch((reason: unknown) => reason)
    expect(fetch.calls).toHaveLength(1)
    expect(error).toMatchObject({
      cause: { message: expect.stringContaining('given 0 steps and has none for call 1') },
    })
  })

  it('refuses a step that would repeat for ever before others', () => {
    expect(() => scriptedFetch([{ status: 503, repeat: true }, { status: 200 }])).toThrow(
      "scriptedFetch: step 1 of 2 says 'repeat'; only the last one can",
    )
  })

  it('shows where a redirect has led', async () => {
    const response = await scriptedFetch([{ url: 'https://portal.example/login', body: 'hi' }])(URL_A)
    expect([response.url, response.redirected]).toEqual(['https://portal.example/login', true])
  })
})
