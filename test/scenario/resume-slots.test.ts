import { describe, expect, it } from 'vitest'
import { rowsOf } from '../support/client-scenario.ts'
import { type Neighbourhood, neighbourhood, outcome } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

interface Left {
  readonly body: string
  readonly lane?: string
}

/** Pending operations that nobody holds, in this order. */
async function leavePending(place: Neighbourhood, operations: readonly Left[]): Promise<void> {
  const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false, deadline: '1s' })
  place.server.weather = () => ({ status: 503 })
  const calls = operations.map(({ body, lane }) => outcome(client.post('/orders', { body, lane })))
  await place.clock.advance(2000)
  for (const { error } of await Promise.all(calls)) expect(error).toMatchObject({ pending: true })
  await client.close()
  // What was known of the server has been forgotten.
  await place.clock.advance('5m')
  place.server.weather = () => ({ status: 201, delay: 100 })
}

function plain(count: number): Left[] {
  return inLane('plain', count).map(({ body }) => ({ body }))
}

function inLane(lane: string, count: number): Left[] {
  return Array.from({ length: count }, (_, n) => ({ body: `${lane}${n}`, lane }))
}

/** The bodies that a resume sent, in their order: it begins two seconds after the calls. */
function sent({ server }: Neighbourhood): string[] {
  const [first] = server.calls
  return server.calls.filter(({ at }) => at >= (first?.at ?? 0) + 2000).map(({ text }) => text)
}

describe('the slots of a resume', () => {
  it('go from hand to hand: as many long lanes as there are slots hold up no operation without one', async () => {
    const place = neighbourhood()
    await leavePending(place, [...inLane('a', 20), ...inLane('b', 20), { body: 'plain' }])
    const resumed = place.client().resume({ concurrency: 2 })
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ claimed: 41, succeeded: 41 })
    expect(sent(place).indexOf('plain')).toBeLessThan(4)
  })

  it.each([1, 2])('a single one goes past %i long lanes, too', async (lanes) => {
    const place = neighbourhood()
    const before = ['a', 'b'].slice(0, lanes).flatMap((lane) => inLane(lane, 20))
    await leavePending(place, [...before, { body: 'plain' }, ...inLane('c', 2)])
    const resumed = place.client().resume({ concurrency: 1 })
    await place.clock.advance(60_000)
    const count = before.length + 3
    expect(await resumed).toMatchObject({ claimed: count, succeeded: count })
    expect(sent(place).indexOf('plain')).toBeLessThan(5)
    expect(sent(place).indexOf('c1')).toBeLessThan(15)
  })

  it('come to a lane again that was through before', async () => {
    const place = neighbourhood()
    const watching = place.client()
    const resumed = watching.resume({ continuous: true })
    const leaving = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false })
    for (const body of ['first', 'second']) {
      place.server.weather = () => ({ fault: 'refused' })
      await outcome(leaving.post('/orders', { body, lane: 'a' }))
      place.server.weather = () => 'fine'
      await place.clock.advance('1m')
    }
    expect(totalEffects(place.server)).toBe(2)
    const closed = watching.close()
    await place.clock.advance(1000)
    await Promise.all([resumed, closed])
  })

  it('keep nothing that was left to a lane when their client closes', async () => {
    for (let closesAfter = 0; closesAfter < 400; closesAfter += 25) {
      const place = neighbourhood()
      await leavePending(place, [...inLane('a', 5), ...inLane('b', 5), { body: 'plain' }])
      const client = place.client()
      const resumed = client.resume({ concurrency: 1 })
      await place.clock.advance(closesAfter)
      const closed = client.close()
      await place.clock.advance(1000)
      await Promise.all([resumed, closed])
      const held = (await rowsOf(place.disk)).filter(({ owner }) => owner !== null)
      expect(held, `closed after ${closesAfter} ms`).toEqual([])
    }
  })

  it('come before the lease: what waits for one is free for other runners', async () => {
    const place = neighbourhood()
    await leavePending(place, [...inLane('a', 5), ...plain(5)])
    place.server.weather = () => ({ status: 201, delay: 8000 })
    const resumed = place.client().resume({ concurrency: 1 })
    const held: number[] = []
    for (let second = 0; second < 100; second++) {
      await place.clock.advance(1000)
      held.push((await rowsOf(place.disk)).filter(({ owner }) => owner !== null).length)
    }
    expect(await resumed).toMatchObject({ claimed: 10, succeeded: 10 })
    expect(Math.max(...held)).toBe(1)
  })

  it('hold up no other lane either', async () => {
    const place = neighbourhood()
    await leavePending(place, [...inLane('a', 20), ...inLane('b', 20), ...inLane('c', 2)])
    const resumed = place.client().resume({ concurrency: 2 })
    await place.clock.advance(60_000)
    await resumed
    expect(sent(place).indexOf('c1')).toBeLessThan(10)
  })

  it('go to a lane as well while many operations without one wait', async () => {
    const place = neighbourhood()
    await leavePending(place, [...inLane('a', 5), ...plain(40)])
    const resumed = place.client().resume({ concurrency: 2 })
    await place.clock.advance(60_000)
    await resumed
    expect(sent(place).indexOf('a4')).toBeLessThan(15)
  })

  it('are never more than the resume may use', async () => {
    const place = neighbourhood()
    await leavePending(place, [...inLane('a', 5), ...inLane('b', 5), { body: 'plain' }, ...inLane('c', 5)])
    let under = 0
    let most = 0
    const accept = (): boolean => {
      under--
      return true
    }
    place.server.weather = () => {
      most = Math.max(most, ++under)
      return { status: 201, delay: 100 }
    }
    const resumed = place.client({ accept }).resume({ concurrency: 3 })
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ succeeded: 16 })
    expect(most).toBe(3)
  })

  it('reach everything at a server that takes longer for an answer than a kept operation has patience', async () => {
    const place = neighbourhood()
    await leavePending(place, plain(30))
    place.server.weather = () => ({ status: 201, delay: 8000 })
    const resumed = place.client({ budget: { ratio: 1.1 } }).resume({ concurrency: 8 })
    await place.clock.advance('2m')
    expect(await resumed).toMatchObject({ claimed: 30, succeeded: 30 })
  })

  it('reach everything where the caller has limited how many leave in a second', async () => {
    const place = neighbourhood()
    await leavePending(place, plain(30))
    const resumed = place.client({ limits: { perSecond: 1 } }).resume({ concurrency: 16 })
    await place.clock.advance('2m')
    expect(await resumed).toMatchObject({ claimed: 30, succeeded: 30 })
  })
})
