import { describe, expect, it } from 'vitest'
import { IndeterminateError, KeyReuseError, RejectedError } from '../../src/index.ts'
import { isSettled, LEASE_MS, leaveBehind, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const ORDER = { body: 'one', id: 'order:1' } as const

describe('calls with the same id', () => {
  it('share one operation in the same tick, each with its own readable response', async () => {
    const place = neighbourhood()
    const client = place.client()
    const handles = [1, 2, 3].map(() => client.post('/charges', ORDER))
    expect(new Set(handles.map((handle) => handle.key)).size).toBe(1)
    const answers = await Promise.all(handles.map((handle) => handle.then((response) => response.json())))
    expect(answers).toEqual([1, 2, 3].map(() => ({ key: handles[0]?.key })))
    expect(place.server.calls).toHaveLength(1)
  })

  it('join while the first is under way', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = (_, n) => (n === 1 ? { status: 503 } : 'fine')
    const first = client.post('/charges', ORDER)
    await settle(place.clock)
    const second = client.post('/charges', ORDER)
    expect(second.key).toBe(first.key)
    await place.clock.advance(5000)
    expect((await first).status).toBe(201)
    expect(await second.json()).toEqual({ key: first.key })
    expect(place.server.calls).toHaveLength(2)
  })

  it('go on without the one that made it, also where that one leaves in another client before anything was sent', async () => {
    const place = neighbourhood()
    const headers = async (): Promise<Record<string, string>> => {
      await place.clock.sleep(700)
      return {}
    }
    const controller = new AbortController()
    const first = outcome(place.client({ headers }).post('/charges', { ...ORDER, signal: controller.signal }))
    await settle(place.clock)
    const second = place.client().post('/charges', ORDER)
    await place.clock.advance(100)
    controller.abort()
    await place.clock.advance(20_000)
    expect((await first).error).toMatchObject({ name: 'AbortError' })
    expect((await second).status).toBe(201)
    expect(totalEffects(place.server)).toBe(1)
  })

  it('end with it where somebody cancels it', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const [mine, theirs] = [place.client(), place.client()]
    const first = outcome(mine.post('/charges', ORDER))
    await settle(place.clock)
    const second = outcome(theirs.post('/charges', ORDER))
    await place.clock.advance(100)
    await mine.cancel(ORDER.id)
    await place.clock.advance(20_000)
    for (const { error } of [await first, await second])
      expect(error).toMatchObject({ reason: 'aborted', pending: false })
    expect(totalEffects(place.server)).toBe(0)
  })

  it('join across clients that share a journal, and the second learns what the first did', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 3000 })
    const first = place.client().post('/charges', ORDER)
    await settle(place.clock)
    const second = place.client().post('/charges', ORDER)
    await settle(place.clock)
    expect(second.key).toBe(first.key)
    await place.clock.advance(10_000)
    expect(await first.json()).toBe('done')
    expect(await second.json()).toBe('done')
    expect(place.server.calls).toHaveLength(1)
  })

  it('take the operation over where its runner is gone, with the same key', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, ORDER)
    const second = place.client({ deadline: '5m' }).post('/charges', ORDER)
    await place.clock.advance(10_000)
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(LEASE_MS)
    expect((await second).status).toBe(201)
    expect(second.key).toBe(key)
    expect(place.server.calls.map((call) => call.headers['idempotency-key'])).toEqual([key, key])
    expect(totalEffects(place.server)).toBe(1)
  })

  it('do not cancel each other: aborting one leaves the others', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 3000 })
    const controller = new AbortController()
    const first = client.post('/charges', ORDER)
    const leaving = outcome(client.post('/charges', { ...ORDER, signal: controller.signal }))
    await settle(place.clock)
    const reason = new Error('I have changed my mind')
    controller.abort(reason)
    await place.clock.advance(50)
    expect((await leaving).error).toBe(reason)
    await place.clock.advance(5000)
    expect(await first.json()).toBe('done')
    expect(place.server.calls).toHaveLength(1)
  })

  it('are cancelled when the last one leaves', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => 'hang-before'
    const controllers = [new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => outcome(client.post('/charges', { ...ORDER, signal })))
    await settle(place.clock)
    controllers[0]?.abort()
    await place.clock.advance(50)
    expect((await client.operation('order:1'))?.status).toBe('pending')
    controllers[1]?.abort()
    await place.clock.advance(50)
    expect((await client.operation('order:1'))?.status).toBe('cancelled')
    expect(await Promise.all(calls)).toEqual(
      [1, 2].map(() => ({ error: expect.objectContaining({ name: 'AbortError' }) })),
    )
  })

  it('count each caller once: one who left at its deadline and aborts later does not take the others along', async () => {
    const place = neighbourhood()
    const client = place.client({ deadline: '5m', attemptTimeout: '5m' })
    place.server.weather = () => ({ status: 201, json: 'done', delay: 60_000 })
    const first = client.post('/charges', ORDER)
    await settle(place.clock)
    const controller = new AbortController()
    const late = outcome(client.post('/charges', { ...ORDER, deadline: '1s', signal: controller.signal }))
    await place.clock.advance(2000)
    const { error } = await late
    expect(error).toMatchObject({ reason: 'deadline', pending: true, effect: 'unknown' })
    expect(error).toBeInstanceOf(IndeterminateError)
    controller.abort()
    await place.clock.advance(100_000)
    expect(await first.json()).toBe('done')
  })

  it('count each caller once: one who aborted and whose deadline passes later is gone only once', async () => {
    const place = neighbourhood()
    const client = place.client({ deadline: '5m', attemptTimeout: '5m' })
    place.server.weather = () => ({ status: 201, json: 'done', delay: 60_000 })
    const first = client.post('/charges', ORDER)
    await settle(place.clock)
    const one = new AbortController()
    void outcome(client.post('/charges', { ...ORDER, deadline: '5s', signal: one.signal }))
    await settle(place.clock)
    one.abort()
    await place.clock.advance(6000)
    const two = new AbortController()
    void outcome(client.post('/charges', { ...ORDER, signal: two.signal }))
    await settle(place.clock)
    two.abort()
    await place.clock.advance(100_000)
    expect(await first.json()).toBe('done')
  })

  for (const [what, call] of [
    ['method', (client: ReturnType<ReturnType<typeof neighbourhood>['client']>) => client.put('/charges', ORDER)],
    ['URL', (client: ReturnType<ReturnType<typeof neighbourhood>['client']>) => client.post('/charges?x=1', ORDER)],
    [
      'body',
      (client: ReturnType<ReturnType<typeof neighbourhood>['client']>) =>
        client.post('/charges', { ...ORDER, body: 'two' }),
    ],
  ] as const) {
    it(`are refused with another ${what}: live, in another client, and after it has settled`, async () => {
      const place = neighbourhood()
      const client = place.client()
      place.server.weather = () => ({ status: 201, delay: 1000 })
      const first = client.post('/charges', ORDER)
      const sameTick = call(client)
      sameTick.catch(() => {})
      await settle(place.clock)
      const handles = [sameTick, call(client), call(place.client())]
      for (const handle of handles) handle.catch(() => {})
      for (const handle of handles) {
        const { error } = await outcome(handle)
        expect(error).toBeInstanceOf(KeyReuseError)
        expect(error).toMatchObject({ effect: 'none', pending: false, reason: 'key-reuse' })
        await expect(handle.accepted).rejects.toBeInstanceOf(KeyReuseError)
      }
      await place.clock.advance(2000)
      await first
      expect((await outcome(call(place.client()))).error).toBeInstanceOf(KeyReuseError)
      expect(place.server.calls).toHaveLength(1)
    })
  }

  it('get the recorded answer once it has settled, until retention ends', async () => {
    const place = neighbourhood()
    const first = place.client({ retention: '10s' })
    const { key } = await first.post('/charges', ORDER).json<{ key: string }>()
    await place.clock.advance(9000)
    expect(await first.post('/charges', ORDER).json()).toEqual({ key })
    expect(await place.client().post('/charges', ORDER).json()).toEqual({ key })
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(1000)
    const again = first.post('/charges', ORDER)
    expect(await again.json()).not.toEqual({ key })
    expect(place.server.calls).toHaveLength(2)
    await first.flush()
    expect(await listed(first)).toEqual([`${again.key} succeeded`])
  })

  it('get the recorded refusal, and nothing is sent', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({
      status: 402,
      headers: { 'content-type': 'application/problem+json' },
      body: '{"title":"No money"}',
    })
    await outcome(client.post('/charges', ORDER))
    const { error } = await outcome(place.client().post('/charges', ORDER))
    expect(error).toBeInstanceOf(RejectedError)
    expect(error).toMatchObject({ effect: 'none', problem: { title: 'No money' } })
    expect((error as RejectedError).response?.status).toBe(402)
    expect(place.server.calls).toHaveLength(1)
  })

  it('take a failed operation up again, with the same key', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => 'answer-lost'
    const first = client.post('/charges', ORDER)
    expect((await outcome(first)).error).toMatchObject({ effect: 'unknown', pending: false })
    expect((await client.operation('order:1'))?.status).toBe('failed')
    place.server.weather = () => 'fine'
    const second = place.client().post('/charges', ORDER)
    expect((await second).headers.get('idempotency-replayed')).toBe('true')
    expect(second.key).toBe(first.key)
    expect(totalEffects(place.server)).toBe(1)
  })

  it('take a cancelled operation up again, with the same key', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => 'hang-after'
    const controller = new AbortController()
    const first = client.post('/charges', { ...ORDER, signal: controller.signal })
    const gone = outcome(first)
    await settle(place.clock)
    controller.abort()
    await gone
    await settle(place.clock)
    place.server.weather = () => 'fine'
    const second = client.post('/charges', ORDER)
    expect((await second).status).toBe(201)
    expect(second.key).toBe(first.key)
    expect(totalEffects(place.server)).toBe(1)
  })

  it('get a large answer without its body from the record', async () => {
    const place = neighbourhood()
    const client = place.client({ maxResponseBytes: 10 })
    place.server.weather = () => ({ status: 200, body: 'x'.repeat(1000), headers: { etag: '"7"' } })
    expect(await client.post('/charges', ORDER).text()).toHaveLength(1000)
    const again = await client.post('/charges', ORDER)
    expect(again.status).toBe(200)
    expect(again.headers.get('etag')).toBe('"7"')
    expect((await outcome(again.text())).error).toMatchObject({ code: 'HOLDFAST_BODY_OMITTED', effect: 'applied' })
    expect(place.server.calls).toHaveLength(1)
  })

  it('wait for one that another client works on no longer than their own deadline', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    place
      .client({ deadline: '10m', attemptTimeout: '10m' })
      .post('/charges', ORDER)
      .catch(() => {})
    await settle(place.clock)
    const second = outcome(place.client({ deadline: '2s' }).post('/charges', ORDER))
    await place.clock.advance(1900)
    expect(await isSettled(second, place.clock)).toBe(false)
    await place.clock.advance(200)
    expect((await second).error).toMatchObject({ reason: 'deadline', pending: true, effect: 'unknown' })
    expect(place.server.calls).toHaveLength(1)
  })

  it('do not begin before the server allows it, where it asked for time', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '20' } })
    await outcome(client.post('/charges', ORDER))
    place.server.weather = () => 'fine'
    const second = client.post('/charges', ORDER)
    await place.clock.advance(19_000)
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(2000)
    expect((await second).status).toBe(201)
  })
})
