import { describe, expect, it } from 'vitest'
import { NotSentError } from '../../src/index.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { isSettled, LEASE_MS, type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import type { Weather } from '../support/shared-model-server.ts'

const LANE = { lane: 'order:42' } as const
const BUSY: Weather = { status: 503 }
const REFUSED: Weather = { status: 400 }

/** The bodies that were sent, in their order. */
function sent({ server }: Neighbourhood): string[] {
  return server.calls.map(({ text }) => text)
}

/** The weather by the body of the request. */
function weatherOf(place: Neighbourhood, by: Record<string, Weather>): void {
  place.server.weather = ({ text }) => by[text] ?? 'fine'
}

describe('a lane', () => {
  it('sends one operation after the other, in the order of acceptance', async () => {
    const place = neighbourhood()
    const client = place.client()
    let failures = 2
    place.server.weather = ({ text }) => (text === 'a' && failures-- > 0 ? BUSY : 'fine')
    const calls = ['a', 'b', 'c'].map((body) => client.post('/orders', { body, ...LANE }))
    await place.clock.advance(5000)
    for (const call of calls) expect((await call).status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'a', 'b', 'c'])
  })

  it('hands over at once within one client, without a pause', async () => {
    const place = neighbourhood()
    const client = place.client()
    const calls = Array.from({ length: 20 }, (_, n) => client.post('/orders', { body: String(n), ...LANE }))
    await settle(place.clock)
    await Promise.all(calls)
    expect(sent(place)).toEqual(calls.map((_, n) => String(n)))
  })

  it('holds up neither other lanes, nor operations without one, nor the same lane of another namespace', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const client = place.client()
    const held = [client.post('/orders', { body: 'a', ...LANE }), client.post('/orders', { body: 'b', ...LANE })]
    for (const call of held) call.catch(() => {})
    await settle(place.clock)
    await client.post('/orders', { body: 'c', lane: 'order:43' })
    await client.post('/orders', { body: 'd' })
    await place.client({ namespace: 'else' }).post('/orders', { body: 'e', ...LANE })
    expect(sent(place)).toEqual(['a', 'c', 'd', 'e'])
  })

  it('is one lane for all clients on a journal', async () => {
    const place = neighbourhood()
    place.server.weather = (_, n) => (n === 1 ? 'hang-before' : 'fine')
    const first = outcome(place.client().post('/orders', { body: 'a', ...LANE }))
    await settle(place.clock)
    const second = outcome(place.client().post('/orders', { body: 'b', ...LANE }))
    await place.clock.advance(9000)
    expect(sent(place)).toEqual(['a'])
    await place.clock.advance(3000)
    expect((await first).value?.status).toBe(201)
    expect((await second).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'b'])
  })

  it('counts no attempt and emits one event for the wait', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const client = place.client({ attemptTimeout: '5s', retry: false })
    client.post('/orders', { body: 'a', lane: 'x', laneOnFailure: 'continue' }).catch(() => {})
    const second = client.post('/orders', { body: 'b', lane: 'x' })
    await settle(place.clock)
    expect(await client.operation(second.key)).toMatchObject({
      status: 'pending',
      attempts: 0,
      inFlight: false,
      lane: 'x',
    })
    await place.clock.advance(6000)
    expect((await second).status).toBe(201)
    const waiting = client.events.filter((event) => event.type === 'operation.waiting')
    expect(waiting).toMatchObject([{ reason: 'lane', operation: { key: second.key } }])
    expect((await client.operation(second.key))?.attempts).toBe(1)
  })
})

describe('a lane whose first operation ends without success', () => {
  const endings: Record<string, { readonly weather: Weather; readonly status: string }> = {
    rejected: { weather: REFUSED, status: 'rejected' },
    failed: { weather: BUSY, status: 'failed' },
  }

  it.each(Object.entries(endings))(
    'is stopped by one that is %s, until it is cancelled',
    async (_, { weather, status }) => {
      const place = neighbourhood()
      weatherOf(place, { a: weather })
      const client = place.client({ retry: false })
      const first = client.post('/orders', { body: 'a', ...LANE })
      await outcome(first)
      expect(await client.operation(first.key)).toMatchObject({ status, lane: 'order:42', holdsLane: true })
      const second = outcome(client.post('/orders', { body: 'b', ...LANE }))
      await place.clock.advance(10_000)
      expect(sent(place)).toEqual(['a'])
      expect(await client.cancel(first.key)).toBe(true)
      await settle(place.clock)
      expect((await second).value?.status).toBe(201)
      expect(await client.operation(first.key)).toMatchObject({ status, holdsLane: false })
      expect(await client.cancel(first.key)).toBe(false)
    },
  )

  it('goes on where it said `continue`', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: REFUSED, b: BUSY })
    const client = place.client({ retry: false })
    const terms = { ...LANE, laneOnFailure: 'continue' } as const
    const calls = ['a', 'b', 'c'].map((body) => outcome(client.post('/orders', { body, ...terms })))
    await settle(place.clock)
    expect((await calls[2])?.value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'b', 'c'])
  })

  it('goes on once it is retried with success, at its old place', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: BUSY })
    const client = place.client({ retry: false })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    const second = outcome(client.post('/orders', { body: 'b', ...LANE }))
    await place.clock.advance(1000)
    expect((await outcome(client.retry(first.key))).error).toMatchObject({ reason: 'attempts' })
    await place.clock.advance(1000)
    expect(sent(place)).toEqual(['a', 'a'])
    weatherOf(place, {})
    expect((await client.retry(first.key)).status).toBe(201)
    await settle(place.clock)
    expect((await second).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'a', 'b'])
  })

  it('keeps the record that stops it for as long as it stops it', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: REFUSED })
    const client = place.client({ retention: '1m' })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    await place.clock.advance(24 * 3_600_000)
    await place.disk.execute([{ do: 'drop', expiredBy: place.clock.now(), limit: 100 }])
    expect((await client.operation(first.key))?.status).toBe('rejected')
    await client.cancel(first.key)
    await place.clock.advance(120_000)
    await place.disk.execute([{ do: 'drop', expiredBy: place.clock.now(), limit: 100 }])
    expect(await client.operation(first.key)).toBeUndefined()
  })

  it('keeps a verdict of the server where it is freed: what was refused is not sent again', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: { status: 500, headers: { 'do-not-retry': 'true' } } })
    const client = place.client()
    const named = { body: 'a', id: 'a', ...LANE }
    await outcome(client.post('/orders', named))
    expect(await client.cancel('a')).toBe(true)
    expect((await outcome(client.post('/orders', named))).error).toMatchObject({ reason: 'do-not-retry' })
    expect((await outcome(client.retry('a'))).error).toMatchObject({ reason: 'do-not-retry' })
    expect(sent(place)).toEqual(['a'])
    expect((await client.post('/orders', { body: 'b', ...LANE })).status).toBe(201)
  })

  it('is free after an abort', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const client = place.client()
    const controller = new AbortController()
    const first = outcome(client.post('/orders', { body: 'a', ...LANE, signal: controller.signal }))
    const second = outcome(client.post('/orders', { body: 'b', ...LANE }))
    await settle(place.clock)
    controller.abort()
    await place.clock.advance(30)
    await first
    expect((await second).value?.status).toBe(201)
  })
})

describe('a caller behind others in a lane', () => {
  it('waits within its deadline and is then told that nothing was sent', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: BUSY })
    const client = place.client({ retry: false })
    await outcome(client.post('/orders', { body: 'a', ...LANE }))
    const second = client.post('/orders', { body: 'b', ...LANE, deadline: '5s' })
    const ended = outcome(second)
    await place.clock.advance(4999)
    expect(await isSettled(ended, place.clock)).toBe(false)
    await place.clock.advance(1)
    const { error } = await ended
    expect(error).toBeInstanceOf(NotSentError)
    expect(error).toMatchObject({ reason: 'lane', effect: 'none', pending: false, attempts: [] })
    expect(error?.message).toContain('an earlier operation of its lane has not succeeded. It was not done.')
    expect(await client.operation(second.key)).toMatchObject({ status: 'failed', reason: 'lane', holdsLane: false })
  })

  it('does not stop the lane where it has gone', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: BUSY })
    const client = place.client({ retry: false })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    const second = outcome(client.post('/orders', { body: 'b', ...LANE, deadline: '1s' }))
    const third = outcome(client.post('/orders', { body: 'c', ...LANE }))
    await place.clock.advance(2000)
    expect((await second).error).toMatchObject({ reason: 'lane' })
    weatherOf(place, {})
    await client.retry(first.key)
    await settle(place.clock)
    expect((await third).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'c'])
  })

  it('queues up at the end where it asks again by its id, and is not sent out of turn', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: BUSY })
    const client = place.client({ retry: false })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    const named = { body: 'b', id: 'b', ...LANE, deadline: '1s' } as const
    const gone = outcome(client.post('/orders', named))
    const third = outcome(client.post('/orders', { body: 'c', ...LANE }))
    await place.clock.advance(1000)
    expect((await gone).error).toMatchObject({ reason: 'lane' })
    const again = outcome(client.post('/orders', { ...named, deadline: '30s' }))
    await place.clock.advance(2000)
    expect(sent(place)).toEqual(['a'])
    weatherOf(place, {})
    await client.retry(first.key)
    await settle(place.clock)
    expect((await third).value?.status).toBe(201)
    expect((await again).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'c', 'b'])
    expect((await client.operation('b'))?.status).toBe('succeeded')
  })

  it('leaves it to a resume with `keep`', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: BUSY })
    const client = place.client({ retry: false })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    const second = client.post('/orders', { body: 'b', ...LANE, deadline: '1s', onGiveUp: 'keep' })
    const ended = outcome(second)
    await place.clock.advance(1000)
    expect((await ended).error).toMatchObject({ reason: 'lane', effect: 'none', pending: true })
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(await client.operation(second.key)).toMatchObject({ status: 'pending', reason: 'lane', holdsLane: true })
    await client.cancel(first.key)
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(sent(place)).toEqual(['a', 'b'])
  })

  it('is cancelled, and the lane goes on without it', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const client = place.client({ attemptTimeout: '5s', retry: false })
    client.post('/orders', { body: 'a', ...LANE, laneOnFailure: 'continue' }).catch(() => {})
    const second = client.post('/orders', { body: 'b', ...LANE })
    const third = outcome(client.post('/orders', { body: 'c', ...LANE }))
    await settle(place.clock)
    const gone = outcome(second)
    expect(await client.cancel(second.key)).toBe(true)
    expect((await gone).error).toMatchObject({ reason: 'aborted', effect: 'none' })
    await place.clock.advance(5000)
    expect((await third).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'c'])
  })

  it('keeps its place where its client closes', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const holder = place.client({ attemptTimeout: '25s', retry: false })
    holder.post('/orders', { body: 'a', ...LANE, laneOnFailure: 'continue' }).catch(() => {})
    await settle(place.clock)
    const client = place.client()
    const second = client.post('/orders', { body: 'b', ...LANE })
    const ended = outcome(second)
    await settle(place.clock)
    await client.close()
    expect((await ended).error).toMatchObject({ reason: 'aborted', pending: true })
    const other = place.client()
    const third = outcome(other.post('/orders', { body: 'c', ...LANE }))
    await place.clock.advance(26_000)
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await place.clock.advance(1000)
    expect((await third).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'b', 'c'])
  })
})

describe('a resume', () => {
  const BODIES = ['a', 'b', 'c', 'd'] as const

  /** Four operations of a lane whose client is gone, in the order of their bodies. */
  async function left(place: Neighbourhood, more: object = {}): Promise<string[]> {
    place.server.weather = () => 'hang-before'
    const client = place.client({ onGiveUp: 'keep', deadline: '1s', retry: false })
    const calls = BODIES.map((body) => client.post('/orders', { body, ...LANE, ...more }))
    const ends = calls.map((call) => outcome(call))
    await place.clock.advance(1000)
    await Promise.all(ends)
    place.server.weather = () => 'fine'
    return calls.map(({ key }) => key)
  }

  it('goes through a lane in one pass, one after the other', async () => {
    const place = neighbourhood()
    await left(place)
    const from = place.server.calls.length
    const client = place.client()
    const done = client.resume({ concurrency: 8 })
    await place.clock.advance(10_000)
    expect(await done).toMatchObject({ claimed: 4, succeeded: 4 })
    expect(sent(place).slice(from)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('goes through several lanes side by side, with what has no lane', async () => {
    const place = neighbourhood()
    await left(place)
    await left(place, { lane: 'order:43' })
    const client = place.client()
    const done = client.resume({ concurrency: 2 })
    await place.clock.advance(10_000)
    expect(await done).toMatchObject({ claimed: 8, succeeded: 8 })
  })

  it('stops where one ends without success, and goes on with `continue`', async () => {
    for (const laneOnFailure of ['stop', 'continue'] as const) {
      const place = neighbourhood()
      await left(place, { laneOnFailure })
      const from = place.server.calls.length
      weatherOf(place, { b: REFUSED })
      const done = place.client().resume()
      await place.clock.advance(10_000)
      await done
      expect(sent(place).slice(from)).toEqual(laneOnFailure === 'stop' ? ['a', 'b'] : ['a', 'b', 'c', 'd'])
    }
  })

  it('that is continuous finds the next when another process frees the lane', async () => {
    const place = neighbourhood()
    const keys = await left(place)
    const from = place.server.calls.length
    weatherOf(place, { a: REFUSED })
    const client = place.client()
    void client.resume({ continuous: true })
    await place.clock.advance(60_000)
    expect(sent(place).slice(from)).toEqual(['a'])
    await place.client().cancel(keys[0] ?? '')
    await place.clock.advance(1000)
    expect(sent(place).slice(from)).toEqual(['a', 'b', 'c', 'd'])
    await client.close()
  })

  it('waits for the takeover of a first operation whose runner died', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const dead = place.client()
    dead.post('/orders', { body: 'a', ...LANE }).catch(() => {})
    await settle(place.clock)
    dead.journal.crash()
    weatherOf(place, {})
    const client = place.client({ deadline: '2m' })
    const second = outcome(client.post('/orders', { body: 'b', ...LANE }))
    void client.resume({ continuous: true })
    await place.clock.advance(LEASE_MS - 2000)
    expect(sent(place)).toEqual(['a'])
    await place.clock.advance(5000)
    expect((await second).value?.status).toBe(201)
    expect(sent(place)).toEqual(['a', 'a', 'b'])
    await client.close()
  })

  it('expires the first at its horizon, which stops the lane, and those behind it at theirs', async () => {
    const place = neighbourhood()
    place.server.weather = () => BUSY
    const client = place.client({ retry: false, onGiveUp: 'keep', horizon: '1h', deadline: '1s' })
    const first = client.post('/orders', { body: 'a', ...LANE })
    await outcome(first)
    await place.clock.advance(600_000)
    const second = client.post('/orders', { body: 'b', ...LANE })
    const ended = outcome(second)
    await place.clock.advance(3_000_000)
    expect((await ended).error).toMatchObject({ reason: 'lane', pending: true })
    const sentBefore = place.server.calls.length
    await client.resume()
    expect(await client.operation(first.key)).toMatchObject({ status: 'expired', holdsLane: true })
    expect(await client.operation(second.key)).toMatchObject({ status: 'pending' })
    await place.clock.advance(600_000)
    await client.resume()
    expect(await client.operation(second.key)).toMatchObject({ status: 'expired', effect: 'none', holdsLane: true })
    expect(place.server.calls).toHaveLength(sentBefore)
    expect([await client.cancel(first.key), await client.cancel(second.key)]).toEqual([true, true])
    place.server.weather = () => 'fine'
    expect((await client.post('/orders', { body: 'c', ...LANE })).status).toBe(201)
  })

  it.each(['stop', 'continue'] as const)('parks a poison operation, with `%s`', async (laneOnFailure) => {
    const place = neighbourhood()
    weatherOf(place, { a: 'hang-before' })
    const dead = place.client()
    const first = dead.post('/orders', { body: 'a', ...LANE, laneOnFailure })
    first.catch(() => {})
    await settle(place.clock)
    dead.journal.crash()
    for (let deaths = 1; deaths < 5; deaths++) {
      await place.clock.advance(LEASE_MS)
      const next = place.client({ random: seededRandom(deaths) })
      void next.resume()
      await settle(place.clock)
      next.journal.crash()
    }
    await place.clock.advance(LEASE_MS)
    weatherOf(place, {})
    const from = place.server.calls.length
    const client = place.client()
    const second = outcome(client.post('/orders', { body: 'b', ...LANE }))
    const resumed = client.resume()
    await place.clock.advance(5000)
    expect(await resumed).toMatchObject({ claimed: 1, pending: 1 })
    const stops = laneOnFailure === 'stop'
    expect(await client.operation(first.key)).toMatchObject({ status: 'pending', reason: 'poison', holdsLane: stops })
    expect(sent(place).slice(from)).toEqual(stops ? [] : ['b'])
    expect((await client.retry(first.key)).status).toBe(201)
    await place.clock.advance(1000)
    expect((await second).value?.status).toBe(201)
    expect(sent(place).slice(from)).toEqual(stops ? ['a', 'b'] : ['b', 'a'])
  })
})

describe('settlements of a lane', () => {
  it('are delivered also where the lane is stopped, and not again when it is freed', async () => {
    const place = neighbourhood()
    weatherOf(place, { a: REFUSED })
    const client = place.client()
    const seen: string[] = []
    client.onSettled('update', ({ operation, status }) => void seen.push(`${operation.metadata} ${status}`))
    const first = client.post('/orders', { body: 'a', ...LANE, name: 'update', metadata: 'a' })
    await outcome(first)
    const second = outcome(
      client.post('/orders', { body: 'b', ...LANE, name: 'update', metadata: 'b', deadline: '1s' }),
    )
    await place.clock.advance(2000)
    await second
    expect(seen).toEqual(['a rejected', 'b failed'])
    await client.cancel(first.key)
    await place.clock.advance(1000)
    expect(seen).toEqual(['a rejected', 'b failed'])
  })
})

describe('a lane in which all are past their horizon', () => {
  it('keeps its order if the clock is set back after they were claimed to expire', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const leaving = place.client({ horizon: '60s', onGiveUp: 'keep', retry: false })
    const left = ['first', 'second'].map((body) => outcome(leaving.post('/orders', { body, ...LANE, deadline: '1s' })))
    await place.clock.advance(2000)
    await Promise.all(left)
    await leaving.close()
    let aheadMs = 61_000
    const clock = { ...place.clock, now: () => place.clock.now() + aheadMs }
    const { client, held } = clientOnHeldDisk(place, { clock })
    const release = held.hold('claim', 'before')
    const resumed = client.resume()
    await settle(place.clock)
    aheadMs = 0
    const before = place.server.calls.length
    place.server.weather = () => 'hang-before'
    release()
    await place.clock.advance(1000)
    expect(place.server.calls.slice(before).map(({ text }) => text)).toEqual([])
    await client.close()
    await resumed
    place.server.weather = () => 'fine'
    await place.client().resume()
    expect(place.server.calls.slice(before).map(({ text }) => text)).toEqual(['first', 'second'])
  })
})
