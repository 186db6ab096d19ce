import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/index.ts'
import { kindOf } from '../../src/testing/command-meaning.ts'
import { street } from '../support/fake-coordination.ts'
import { type Neighbourhood, neighbourhood, ORIGIN, outcome, settle } from '../support/shared-clients.ts'

/* What a client has learned of a server outlives it, and is known to the tabs beside it. */

/** Time alone brings no token in these tests. */
const DEFAULTS = { budget: { reservePerSecond: 0.001 } }
/** By then the circuit breaker has opened, and a call that waited has ended. */
const UNTIL_OPEN_MS = 8000
const dead = () => ({ status: 503 })

const post = (client: Client) => client.post('/charges', { body: 'one' })

/** What one call costs a dead server. */
async function costOf(place: Neighbourhood, make = () => post(place.client(DEFAULTS))): Promise<number> {
  const before = place.server.calls.length
  const call = outcome(make())
  await place.clock.advance(UNTIL_OPEN_MS)
  await call
  return place.server.calls.length - before
}

async function levelRows(place: Neighbourhood): Promise<unknown[]> {
  const list = { do: 'list', namespace: '', status: undefined, after: 0, limit: 10 } as const
  return (await place.disk.execute([list]))[0] as unknown[]
}

describe('a client after a restart', () => {
  it('does not spend its burst again', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    expect(await costOf(place)).toBe(3)
    for (let reload = 0; reload < 3; reload++) expect(await costOf(place)).toBe(1)
  })

  it('has the reserve of the time in between', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const reserved = { budget: { reservePerSecond: 0.1 } }
    const before = place.client(reserved)
    await costOf(place, () => post(before))
    const left = before.budget(ORIGIN)
    await place.clock.advance(5000)
    const after = place.client(reserved)
    expect(after.budget(ORIGIN)).toBe(2) // unread: its journal is not open
    await after.operation('none')
    expect(after.budget(ORIGIN)).toBeCloseTo(left + 0.5)
  })

  it('finds the breaker open, and its own first request is a probe only when one is due', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const breaker = { openFor: '20s' } as const
    const before = place.client({ ...DEFAULTS, breaker })
    await costOf(place, () => post(before))
    const after = place.client({ ...DEFAULTS, breaker })
    await outcome(after.post('/charges', { body: 'probe' }))
    const { error } = await outcome(after.post('/charges', { body: 'two' }))
    expect(error).toMatchObject({ code: 'HOLDFAST_NOT_SENT', reason: 'breaker', effect: 'none' })
    expect(after.events).toContainEqual(
      expect.objectContaining({ type: 'breaker.changed', from: 'closed', to: 'open', origin: ORIGIN }),
    )
    await place.clock.advance(25_000)
    place.server.weather = () => ({ status: 201 })
    expect((await after.post('/charges', { body: 'three' })).status).toBe(201)
  })

  it('is not held up by what a server was like that is well again', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const client = place.client(DEFAULTS)
    await costOf(place, () => post(client))
    place.server.weather = () => ({ status: 201 })
    await place.clock.advance(180_000)
    for (let n = 0; n < 9; n++) await elapsed(place, client.post('/charges', { body: `${n}`, id: `${n}` }))
    expect(await levelRows(place)).toMatchObject([{ head: expect.stringContaining('"gapMs":0') }])
    place.server.weather = dead
    expect(await costOf(place)).toBe(3)
  })

  it('is told nothing of a healthy server: not a row is written', async () => {
    const place = neighbourhood()
    const client = place.client(DEFAULTS)
    for (let n = 0; n < 5; n++) await elapsed(place, client.post('/charges', { body: `${n}`, id: `${n}` }))
    expect(await levelRows(place)).toEqual([])
  })

  it('writes what it knows in the transactions of its operations', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const client = place.client(DEFAULTS)
    const batches: string[][] = []
    const { execute } = place.disk
    place.disk.execute = (commands) => {
      batches.push(commands.map(kindOf))
      return execute.call(place.disk, commands)
    }
    await costOf(place, () => post(client))
    const levels = batches.filter((batch) => batch.includes('remove'))
    expect(levels.length).toBeGreaterThan(0)
    for (const batch of levels) expect(batch).toEqual(['commit', 'remove', 'append'])
    expect(await levelRows(place)).toHaveLength(1)
  })

  it('goes on without what it cannot read', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    await costOf(place)
    const { execute } = place.disk
    place.disk.execute = async (commands) => {
      if (commands.some((command) => command.do === 'list')) throw new Error('no lists today')
      return execute.call(place.disk, commands)
    }
    expect(await costOf(place)).toBe(3)
  })

  it('does not take an old level that was never pruned', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const breaker = { openFor: '20s' } as const
    await costOf(place, () => post(place.client({ ...DEFAULTS, breaker })))
    await place.clock.advance(300_000)
    expect(await levelRows(place)).toHaveLength(1)
    place.server.weather = () => ({ status: 201, delay: 50 })
    const client = place.client({ ...DEFAULTS, breaker })
    const calls = [1, 2, 3].map((n) => outcome(client.post('/charges', { body: `${n}` })))
    await place.clock.advance(1000)
    expect((await Promise.all(calls)).map(({ value }) => value?.status)).toEqual([201, 201, 201])
    expect(client.events.some(({ type }) => type === 'breaker.changed')).toBe(false)
  })

  it('forgets it with time', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    await costOf(place)
    await place.clock.advance(300_000)
    await place.disk.execute([{ do: 'drop', expiredBy: place.clock.now(), limit: 100 }])
    expect(await levelRows(place)).toEqual([])
  })
})

describe('an explicit resume', () => {
  /** Five calls are kept, and the tokens are gone. */
  async function outageOf(place: Neighbourhood): Promise<Client> {
    place.server.weather = dead
    const client = place.client({ ...DEFAULTS, onGiveUp: 'keep' })
    const calls = [1, 2, 3, 4, 5].map((n) => outcome(client.post('/charges', { body: `${n}` })))
    await place.clock.advance(UNTIL_OPEN_MS)
    await Promise.all(calls)
    return client
  }

  it.each(['the same client', 'a new one'])('of %s goes on at once where the server is well again', async (who) => {
    const place = neighbourhood()
    const before = await outageOf(place)
    place.server.weather = () => ({ status: 201 })
    const client = who === 'a new one' ? place.client(DEFAULTS) : before
    expect(await elapsed(place, client.resume())).toMatchObject({ claimed: 5, succeeded: 5 })
  })

  it('costs a dead server one request', async () => {
    const place = neighbourhood()
    await outageOf(place)
    const sent = place.server.calls.length
    for (let restart = 1; restart <= 3; restart++) {
      const resumed = place.client(DEFAULTS).resume()
      await place.clock.advance(30000)
      await resumed
      expect(place.server.calls.length - sent).toBe(restart)
    }
  })

  it('leaves nothing to a continuous one', async () => {
    const place = neighbourhood()
    const client = place.client({ ...DEFAULTS, onGiveUp: 'keep' })
    await elapsed(place, client.post('/charges', { body: 'zero' }))
    await elapsed(place, client.resume())
    place.server.weather = dead
    const calls = [1, 2, 3, 4, 5].map((n) => outcome(client.post('/charges', { body: `${n}` })))
    await place.clock.advance(UNTIL_OPEN_MS)
    await Promise.all(calls)
    const sent = place.server.calls.length
    const stop = new AbortController()
    const watching = client.resume({ continuous: true, signal: stop.signal })
    await place.clock.advance(2000)
    expect(place.server.calls.length).toBe(sent)
    stop.abort()
    await watching
  })
})

describe('the tabs of one origin', () => {
  it('spend one burst together', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const { neighbour } = street()
    const [mine, theirs] = [place.client(DEFAULTS, neighbour()), place.client(DEFAULTS, neighbour())]
    // Not journaled: they hear it from each other, or not at all.
    const costs = [await costOf(place, () => mine.get('/charges')), await costOf(place, () => theirs.get('/charges'))]
    expect(costs).toEqual([3, 1])
  })

  it('open their breakers together, and close them with the probe of one', async () => {
    const place = neighbourhood()
    place.server.weather = dead
    const { neighbour } = street()
    const options = { ...DEFAULTS, breaker: { openFor: '20s' } as const }
    const [mine, theirs] = [place.client(options, neighbour()), place.client(options, neighbour())]
    await costOf(place, () => post(mine))
    expect(await costOf(place, () => post(theirs))).toBe(1)
    expect(await costOf(place, () => post(mine))).toBe(0)
    await place.clock.advance(25_000)
    place.server.weather = () => ({ status: 201 })
    await elapsed(place, mine.post('/charges', { body: 'probe' }))
    const turns = theirs.events.flatMap((event) => (event.type === 'breaker.changed' ? [event.to] : []))
    expect(turns).toEqual(['open', 'closed'])
  })

  it('tell who comes later when the server is well again, whoever of them has found out', async () => {
    const place = neighbourhood()
    const { neighbour } = street()
    const [mine, theirs] = [place.client(DEFAULTS, neighbour()), place.client(DEFAULTS, neighbour())]
    place.server.weather = dead
    await costOf(place, () => post(mine))
    await place.clock.advance(180_000)
    place.server.weather = () => ({ status: 201 })
    for (let n = 0; n < 9; n++) await elapsed(place, theirs.post('/charges', { body: `${n}`, id: `${n}` }))
    expect(await levelRows(place)).toMatchObject([{ head: expect.stringContaining('"failures":0') }])
  })

  it('do not lend each other what they have earned', async () => {
    const place = neighbourhood()
    const { neighbour } = street()
    const [mine, theirs] = [place.client(DEFAULTS, neighbour()), place.client(DEFAULTS, neighbour())]
    for (let n = 0; n < 9; n++) await elapsed(place, mine.post('/charges', { body: `${n}` }))
    expect(mine.budget(ORIGIN)).toBe(10)
    expect(theirs.budget(ORIGIN)).toBe(2)
  })

  it('do not take what is no level for one', async () => {
    const place = neighbourhood()
    const { neighbour } = street()
    const [one, other] = [neighbour(), neighbour()]
    const client = place.client(DEFAULTS, one)
    for (const level of [undefined, null, 'open', { tokens: 0 }]) {
      other.notifyPeers?.({ is: 'level', namespace: '', key: ORIGIN, level })
    }
    expect(client.budget(ORIGIN)).toBe(2)
  })
})

async function elapsed<T>({ clock }: Neighbourhood, promise: PromiseLike<T>): Promise<T> {
  const ended = Promise.resolve(promise)
  await settle(clock)
  return ended
}
