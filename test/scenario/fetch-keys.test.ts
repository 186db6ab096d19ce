import { describe, expect, it } from 'vitest'
import { type ClientOptions, isHoldfastError, memoryJournal } from '../../src/index.ts'
import { elapse, ORIGIN, rejection, rowsOf, scenario } from '../support/client-scenario.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { LEASE_MS, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const MINUTE = 60_000
const KEY = { 'idempotency-key': 'order-42' }
const post = { method: 'POST', body: 'x' } as const
const keyed = { ...post, headers: KEY }

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new Blob(chunks).stream()
}

describe('what client.fetch journals', () => {
  const cases: readonly (readonly [string, ClientOptions, RequestInit, 'journaled' | 'sent'])[] = [
    ['a GET', {}, {}, 'sent'],
    ['a GET with a key header', {}, { headers: KEY }, 'sent'],
    ['a POST without a key', {}, post, 'sent'],
    ['a PUT without a key', {}, { ...post, method: 'PUT' }, 'sent'],
    ['a POST with its own key', {}, keyed, 'journaled'],
    ['a DELETE with its own key', {}, { method: 'DELETE', headers: KEY }, 'journaled'],
    ['a POST whose key is no key', {}, { ...post, headers: { 'idempotency-key': 'a b' } }, 'sent'],
    ['a POST, honoursKeys: true', { honoursKeys: true }, post, 'journaled'],
    ['a POST, honoursKeys says so of its URL', { honoursKeys: (url) => url.endsWith('/a') }, post, 'journaled'],
    ['a POST, durable: true', { durable: true }, post, 'journaled'],
    ['a POST with its own key, durable: false', { durable: false }, keyed, 'sent'],
    ['a POST with its own key, journal: false', { journal: false }, keyed, 'sent'],
    ['a keyed stream', {}, { ...keyed, body: streamOf('a', 'b'), duplex: 'half' } as RequestInit, 'journaled'],
    [
      'a keyed stream that is too long',
      { maxBodyBytes: 3 },
      { ...keyed, body: streamOf('ab', 'cd'), duplex: 'half' } as RequestInit,
      'sent',
    ],
    ['a keyed text that is too long', { maxBodyBytes: 3 }, { ...keyed, body: 'abcd' }, 'sent'],
    ['a keyed Blob', {}, { ...keyed, body: new Blob(['ab']) }, 'journaled'],
    ['a keyed Blob that is too long', { maxBodyBytes: 3 }, { ...keyed, body: new Blob(['abcd']) }, 'sent'],
  ]

  it.each(cases)('%s', async (...[, options, init, expected]) => {
    const journal = memoryJournal()
    const { client, fetch } = scenario(() => ({ status: 200 }), { journal, ...options })
    const sent = init.body instanceof ReadableStream ? undefined : await new Response(init.body).text()
    await client.fetch('/a', init)
    await client.flush()
    expect(await rowsOf(journal)).toHaveLength(expected === 'journaled' ? 1 : 0)
    const own = new Headers(init.headers).get('idempotency-key')
    expect(fetch.calls[0]?.headers['idempotency-key']).toEqual(
      own ?? (expected === 'journaled' ? expect.stringMatching(/^[\da-f-]{36}$/) : undefined),
    )
    if (sent !== undefined) expect(fetch.calls[0]?.text).toBe(sent)
  })

  it.each([
    ['a text that is too long', 'abcd'],
    ['a stream that is too long', streamOf('ab', 'cd')],
  ])('%s is refused where everything is to be journaled', async (_, body) => {
    const { client, fetch } = scenario([], { durable: true, maxBodyBytes: 3 })
    const error = (await rejection(
      client.fetch('/a', { method: 'POST', body, duplex: 'half' } as RequestInit),
    )) as Error
    expect(error.cause).toMatchObject({ name: 'BodyError', effect: 'none' })
    expect(fetch.calls).toHaveLength(0)
  })

  it('what was kept is resumed with its key, its bytes and its content type', async () => {
    const journal = memoryJournal()
    const { client, clock, fetch } = scenario([{ fault: 'reset' }], { journal, onGiveUp: 'keep', retry: false })
    const form = new FormData()
    form.append('amount', '5000')
    await elapse(clock, MINUTE, rejection(client.fetch('/a', { method: 'POST', body: form, headers: KEY })))
    await client.close()
    const later = scenario([{ status: 201, json: { id: 1 } }], { journal, clock })
    expect(await elapse(clock, MINUTE, later.client.resume())).toMatchObject({ claimed: 1, succeeded: 1 })
    const [first] = fetch.calls
    const [second] = later.fetch.calls
    expect(second?.text).toBe(first?.text)
    expect(second?.headers).toMatchObject({ ...KEY, 'content-type': first?.headers['content-type'] })
  })
})

describe('a key that comes again through client.fetch', () => {
  it('asks the server again where the record has no body, and leaves the record alone', async () => {
    const { client, fetch, journal } = scenario([
      { status: 201, json: { id: 1 } },
      { status: 201, json: { id: 1 }, headers: { 'idempotency-replayed': 'true' } },
    ])
    expect(await (await client.fetch('/a', keyed)).json()).toEqual({ id: 1 })
    await client.flush()
    const before = await rowsOf(journal)
    expect(await (await client.fetch('/a', keyed)).json()).toEqual({ id: 1 })
    await client.flush()
    expect(fetch.calls.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-42', 'order-42'])
    expect(await rowsOf(journal)).toEqual(before)
  })

  it('never says of what was done before that it was not done', async () => {
    const { client, clock } = scenario([
      { status: 201, body: 'done' },
      { fault: 'refused', repeat: true },
    ])
    await client.fetch('/a', keyed)
    await client.flush()
    const error = (await elapse(clock, MINUTE, rejection(client.fetch('/a', keyed)))) as Error
    expect(isHoldfastError(error.cause) && error.cause.effect).toBe('applied')
  })

  it('gives the recorded answer where that is whole', async () => {
    const { client, fetch } = scenario([{ status: 201, json: { id: 1 } }])
    await client.post('/a', { body: 'x', key: 'order-42' })
    await client.flush()
    const response = await client.fetch('/a', {
      ...keyed,
      headers: { ...KEY, 'content-type': 'text/plain;charset=UTF-8' },
    })
    expect(await response.json()).toEqual({ id: 1 })
    expect(fetch.calls).toHaveLength(1)
  })

  it('does not ask a server again that ignores keys', async () => {
    const { client, fetch } = scenario([{ status: 201, json: { id: 1 } }], { honoursKeys: false })
    await client.fetch('/a', keyed)
    await client.flush()
    const error = (await rejection(client.fetch('/a', keyed))) as Error
    expect(error.cause).toMatchObject({ code: 'HOLDFAST_BODY_OMITTED', effect: 'applied' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('is told what became of an operation that expired, and nothing is sent', async () => {
    const { client, clock, fetch } = scenario([{ fault: 'reset' }], {
      onGiveUp: 'keep',
      retry: false,
      horizon: '10s',
      dedupWindow: '1m',
    })
    await elapse(clock, 1000, rejection(client.fetch('/a', keyed)))
    await clock.advance(20_000)
    await elapse(clock, 1000, client.resume())
    const error = (await elapse(clock, 1000, rejection(client.fetch('/a', keyed)))) as Error
    expect(error.cause).toMatchObject({ name: 'IndeterminateError', reason: 'horizon', effect: 'unknown' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('is told of a do-not-retry verdict, and nothing is sent', async () => {
    const refusal = { status: 503, headers: { 'do-not-retry': 'true' }, body: 'closed' }
    const { client, fetch } = scenario([refusal, { status: 201 }])
    expect((await client.fetch('/a', keyed)).status).toBe(503)
    const again = await client.fetch('/a', keyed)
    expect(again.status).toBe(503)
    expect(again.headers.get('do-not-retry')).toBe('true')
    expect(fetch.calls).toHaveLength(1)
  })

  it('may be done after a refusal, and then the record says so', async () => {
    const { client, fetch } = scenario([
      { status: 401, body: 'no' },
      { status: 201, body: 'done' },
    ])
    expect((await client.fetch('/a', keyed)).status).toBe(401)
    expect(await (await client.fetch('/a', keyed)).text()).toBe('done')
    expect(await client.operation(KEY['idempotency-key'])).toMatchObject({ status: 'succeeded', effect: 'applied' })
    expect(fetch.calls.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-42', 'order-42'])
  })

  it('is not sent where a do-not-retry verdict came while the call was about to take it over', async () => {
    const place = neighbourhood()
    const headers = { 'idempotency-key': 'k' }
    place.server.weather = () => 'hang-before'
    const first = place.client({ attemptTimeout: '20s', retry: false })
    const one = outcome(first.fetch('/charges', { method: 'POST', body: 'one', headers }))
    await settle(place.clock)
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('claim-by-key', 'before')
    const two = outcome(client.fetch('/charges', { method: 'POST', body: 'one', headers }))
    await place.clock.advance(1000)
    place.server.weather = () => ({ status: 503, headers: { 'do-not-retry': 'true' }, body: 'closed' })
    await place.clock.advance(20_000)
    await one
    const again = await first.fetch('/charges', { method: 'POST', body: 'one', headers })
    expect(again.headers.get('do-not-retry')).toBe('true')
    const sent = place.server.calls.length
    release()
    await place.clock.advance(5000)
    expect((await two).value?.status).toBe(503)
    expect(place.server.calls).toHaveLength(sent)
  })

  it('is asked for once by a call that takes it over from a runner that is gone', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    const client = place.client()
    client.onSettled('*', () => Promise.reject(new Error('busy')))
    const answer = client.fetch('/charges', { method: 'POST', body: 'one', headers: { 'idempotency-key': key } })
    const { status } = await elapse(place.clock, LEASE_MS + 1000, answer)
    expect(status).toBe(201)
    expect(place.server.calls).toHaveLength(2)
    expect(await client.operation(key)).toMatchObject({ status: 'succeeded', effect: 'applied' })
  })

  it('is refused for another body, and nothing is sent', async () => {
    const { client, fetch } = scenario([{ status: 201 }])
    await client.fetch('/a', keyed)
    const error = (await rejection(client.fetch('/a', { ...keyed, body: 'y' }))) as Error
    expect(error.cause).toMatchObject({ name: 'KeyReuseError', effect: 'none' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('is shared while it is in flight: one request, and each caller has an answer to read', async () => {
    const { client, clock, fetch } = scenario([{ status: 201, body: 'done', delay: 100 }])
    const both = Promise.all([client.fetch('/a', keyed), client.fetch('/a', keyed)])
    const answers = await elapse(clock, 200, both)
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['done', 'done'])
    expect(fetch.calls).toHaveLength(1)
  })

  it('learns from the body of a 422 that the key was used for something else', async () => {
    const answers = [
      { fault: 'reset' as const },
      { status: 422, headers: { 'content-type': 'application/json' }, body: '{"error":"idempotency_key_reused"}' },
    ]
    const { client, clock, events } = scenario(answers)
    const response = await elapse(clock, MINUTE, client.fetch('/a', keyed))
    expect([response.status, await response.json()]).toEqual([422, { error: 'idempotency_key_reused' }])
    expect(events.at(-1)).toMatchObject({ type: 'operation.settled', reason: 'key-reuse', effect: 'unknown' })
  })
})

describe('what client.fetch sends again', () => {
  const undone = [
    ['a refused connection', { fault: 'refused' }],
    ['a 429', { status: 429 }],
    ['a 503 that says when to come back', { status: 503, headers: { 'retry-after': '1' } }],
  ] as const
  const perhaps = [
    ['a lost answer', { fault: 'reset' }],
    ['a 500', { status: 500 }],
    ['a 503', { status: 503 }],
  ] as const

  it.each(undone)('a POST without a key after %s, which certainly was not done', async (_, step) => {
    const { client, clock, fetch } = scenario([step, { status: 201 }])
    expect((await elapse(clock, MINUTE, client.fetch('/a', post))).status).toBe(201)
    expect(fetch.calls).toHaveLength(2)
  })

  it.each(perhaps)('no POST without a key after %s', async (_, step) => {
    const { client, clock, fetch } = scenario(() => step as { status: number })
    await elapse(
      clock,
      MINUTE,
      client.fetch('/a', post).catch(() => {}),
    )
    expect(fetch.calls).toHaveLength(1)
  })

  it.each(perhaps)('a POST with a key, and a PUT without, after %s', async (_, step) => {
    for (const init of [keyed, { ...post, method: 'PUT' }]) {
      const { client, clock, fetch } = scenario([step, { status: 201 }])
      expect((await elapse(clock, MINUTE, client.fetch('/a', init))).status).toBe(201)
      expect(fetch.calls.map(({ text }) => text)).toEqual(['x', 'x'])
    }
  })

  it('no stream without a key: its answer is given as it is', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }])
    const init = { method: 'PUT', body: streamOf('a', 'b'), duplex: 'half' } as RequestInit
    expect((await elapse(clock, MINUTE, client.fetch('/a', init))).status).toBe(503)
    expect(fetch.calls[0]?.text).toBe('ab')
  })

  it('the body of a Request, once all of it was seen', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 200 }])
    const request = new Request(`${ORIGIN}/a`, {
      method: 'PUT',
      body: streamOf('a', 'b'),
      duplex: 'half',
    } as RequestInit)
    expect((await elapse(clock, MINUTE, client.fetch(request))).status).toBe(200)
    expect(fetch.calls.map(({ text }) => text)).toEqual(['ab', 'ab'])
    expect(request.bodyUsed).toBe(true)
  })

  it('what was held when it was called, whatever became of it since', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 200 }])
    const body = new TextEncoder().encode('before')
    const answer = client.fetch('/a', { method: 'PUT', body })
    body.fill(0)
    await elapse(clock, MINUTE, answer)
    expect(fetch.calls.map(({ text }) => text)).toEqual(['before', 'before'])
  })

  it('the same bytes, where a fetch has changed those that it was given', async () => {
    const sent: string[] = []
    const { client, clock } = scenario([], {
      fetch: async (_input, init) => {
        const bytes = init?.body as Uint8Array
        sent.push(new TextDecoder().decode(bytes))
        bytes.fill(0)
        return new Response(null, { status: sent.length === 1 ? 503 : 201 })
      },
    })
    const body = new TextEncoder().encode('mine')
    await elapse(clock, MINUTE, client.fetch('/a', { method: 'POST', body, headers: KEY }))
    expect(sent).toEqual(['mine', 'mine'])
  })

  it('nothing after a rule of its own that threw, which is not hidden behind the answer', async () => {
    const shouldRetry = (): boolean => {
      throw new Error('my mistake')
    }
    const { client, fetch } = scenario([{ status: 503 }], { retry: { shouldRetry } })
    const error = (await rejection(client.fetch('/a'))) as Error & { cause: Error }
    expect(error.cause.cause).toMatchObject({ message: 'my mistake' })
    expect(fetch.calls).toHaveLength(1)
  })
})
