import { describe, expect, it } from 'vitest'
import type { Coordination } from '../../src/client/coordination/port.ts'
import { tabPeers } from '../../src/client/coordination/tab-peers.ts'
import type { SurveyResult } from '../../src/client/journal/port.ts'
import { street } from '../support/fake-coordination.ts'
import { FakeLocks, FakeTab, fakeChannels } from '../support/fake-tab.ts'
import type { Neighbourhood } from '../support/shared-clients.ts'
import { isSettled, LEASE_MS, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** Two tabs with one journal, one channel and one server. */
function twoTabs() {
  const place = neighbourhood()
  const { neighbour, said } = street()
  const [mine, theirs] = [neighbour(), neighbour()]
  return { place, clock: place.clock, server: place.server, neighbour, said, mine, theirs }
}

async function ownersOf({ disk, clock }: Neighbourhood): Promise<readonly string[]> {
  const survey = {
    do: 'survey',
    namespace: 'default',
    deliverNames: [],
    exceptNames: [],
    origins: '*',
    exceptOrigins: [],
  } as const
  const [result] = await disk.execute([{ ...survey, now: clock.now() }])
  return (result as SurveyResult).owners
}

describe('a tab that is gone', () => {
  it('is succeeded by a watch within ten seconds, although its lease has not lapsed', async () => {
    const { place, clock, server, mine } = twoTabs()
    await leaveBehind(place)
    const owners = await ownersOf(place)
    const client = place.client({}, mine)
    const watching = client.resume({ continuous: true })
    await clock.advance(2000)
    for (const one of owners) mine.dead.add(one)
    await clock.advance(8000)
    expect(totalEffects(server)).toBe(1)
    await client.close()
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('keeps what has not been taken yet when it is back in the middle of a resume', async () => {
    const { place, clock, mine, theirs } = twoTabs()
    place.server.weather = () => ({ status: 201, delay: 9000 })
    const away = place.client({}, theirs)
    const calls = [1, 2, 3].map((number) => outcome(away.post('/charges', { body: `${number}` })))
    await settle(clock)
    place.server.weather = () => ({ status: 201, delay: 1000 })
    mine.dead.add(theirs.owner)
    const resumed = place.client({}, mine).resume({ concurrency: 1 })
    await settle(clock)
    mine.dead.clear()
    await clock.advance(60_000)
    expect(await resumed).toMatchObject({ claimed: 1 })
    await Promise.all(calls)
  })

  it('keeps the settlements that have not been taken yet, too', async () => {
    const { place, clock, mine, theirs } = twoTabs()
    const away = place.client({}, theirs)
    away.onSettled('order', () => new Promise(() => {}))
    await Promise.all([1, 2, 3].map((number) => away.post('/charges', { body: `${number}`, name: 'order' })))
    const client = place.client({}, mine)
    const taken: string[] = []
    client.onSettled('order', async ({ operation }) => {
      taken.push(operation.key)
      await clock.sleep(5000)
    })
    mine.dead.add(theirs.owner)
    const resumed = client.resume({ concurrency: 1 })
    await settle(clock)
    mine.dead.clear()
    await clock.advance(15_000)
    expect(await resumed).toMatchObject({ claimed: 1 })
    expect(taken).toHaveLength(1)
    void away.close({ grace: 0 })
    await settle(clock)
  })

  it('keeps its operation if it is back while a caller looks whether it lives', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    server.weather = () => ({ status: 201, delay: 9000 })
    const away = outcome(place.client({}, theirs).post('/charges', { body: 'one', id: 'order:1' }))
    await clock.advance(1000)
    const slow: Coordination = {
      ...mine,
      async findDead(owners) {
        const dead = await mine.findDead(owners)
        await clock.sleep(200)
        return dead
      },
    }
    mine.dead.add(theirs.owner)
    const call = outcome(place.client({}, slow).post('/charges', { body: 'one', id: 'order:1' }))
    await clock.advance(100)
    mine.dead.clear()
    theirs.wake()
    await clock.advance(7000)
    expect(server.calls).toHaveLength(1)
    await clock.advance(10_000)
    expect((await away).value?.status).toBe(201)
    expect((await call).value?.status).toBe(201)
  })

  it('is succeeded at once by whoever calls with the same id', async () => {
    const { place, clock, server, mine } = twoTabs()
    const key = await leaveBehind(place, { id: 'order:1' })
    const owners = await ownersOf(place)
    for (const one of owners) mine.dead.add(one)
    const call = place.client({}, mine).post('/charges', { body: 'one', id: 'order:1' })
    await settle(clock)
    expect(await call.json()).toEqual({ key })
    expect(totalEffects(server)).toBe(1)
  })

  it('finds its answer when it comes back, although its operation has no id', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    server.weather = () => ({ status: 503 })
    const call = outcome(
      place
        .client({ deadline: '5m', retry: { base: 20_000, jitter: 'none' } }, mine)
        .post('/charges', { body: 'one' })
        .json(),
    )
    await settle(clock)
    server.weather = () => 'fine'
    theirs.dead.add(mine.owner)
    expect(await place.client({}, theirs).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await clock.advance(60_000)
    expect((await call).value).toEqual({ key: expect.any(String) })
    expect(totalEffects(server)).toBe(1)
    expect(server.calls).toHaveLength(2)
  })

  it('is told by a look-up, when it comes back, what another tab has done meanwhile', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    server.weather = () => ({ fault: 'refused' })
    const tab = place.client({ deadline: '5m', retry: { base: 20_000, jitter: 'none' } }, mine)
    const handle = tab.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await settle(clock)
    expect(await tab.operation(handle.key)).toMatchObject({ status: 'pending', effect: 'none' })
    server.weather = () => 'fine'
    theirs.dead.add(mine.owner)
    expect(await place.client({}, theirs).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(await tab.operation(handle.key)).toMatchObject({ status: 'succeeded', effect: 'applied' })
    await clock.advance(60_000)
    expect((await call).value?.status).toBe(201)
  })
})

describe('a tab that lives', () => {
  /** Real tabs of one origin: A has looked at the locks of the origin before B was opened. */
  async function olderAndNewer() {
    const place = neighbourhood()
    const locks = new FakeLocks()
    const { Channel } = fakeChannels()
    const tab = () => place.client({}, tabPeers(new FakeTab(locks, Channel)))
    const older = tab()
    await leaveBehind(place)
    await older.resume()
    place.server.weather = () => ({ status: 201, json: 'by the newer one', delay: 5_000 })
    const newer = tab()
    const call = outcome(newer.post('/charges', { body: 'one', id: 'order:1' }).json())
    await settle(place.clock)
    const before = place.server.calls.length
    return { place, older, call, sentSince: () => place.server.calls.length - before }
  }

  it('keeps its operation when an older one calls with the same id', async () => {
    const { place, older, call, sentSince } = await olderAndNewer()
    const joined = outcome(older.post('/charges', { body: 'one', id: 'order:1' }).json())
    await place.clock.advance(10_000)
    expect(sentSince()).toBe(0)
    expect([await call, await joined]).toEqual([{ value: 'by the newer one' }, { value: 'by the newer one' }])
  })

  it('keeps its operation when an older one retries it', async () => {
    const { place, older, call, sentSince } = await olderAndNewer()
    const joined = outcome(older.retry('order:1').json())
    await place.clock.advance(10_000)
    expect(sentSince()).toBe(0)
    expect([await call, await joined]).toEqual([{ value: 'by the newer one' }, { value: 'by the newer one' }])
  })
})

describe('a hint', () => {
  it('that something is pending wakes a watch at once', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    const client = place.client({}, mine)
    const watching = client.resume({ continuous: true })
    await clock.advance(600)
    server.weather = () => 'hang-before'
    const other = place.client({}, theirs)
    const call = outcome(other.post('/charges', { body: 'one' }))
    await settle(clock)
    server.weather = () => 'fine'
    const closed = other.close()
    await clock.advance(10_000)
    await closed
    const [sent, again] = server.calls.map(({ at }) => at)
    expect((await call).error).toMatchObject({ pending: true })
    // The attempt came home after ten seconds; the watch would have looked at the next half second.
    expect((again ?? 0) - (sent ?? 0)).toBe(10_000)
    expect(totalEffects(server)).toBe(1)
    await client.close()
    await watching
  })

  it('takes nobody’s delay back: two watches do not chase each other', async () => {
    const { place, clock, server, said, mine, theirs } = twoTabs()
    await leaveBehind(place)
    await clock.advance(LEASE_MS)
    server.weather = () => ({ status: 503 })
    const clients = [mine, theirs].map((tab) => place.client({ retry: false }, tab))
    const watching = clients.map((client) => client.resume({ continuous: true }))
    const before = server.calls.length
    for (let second = 0; second < 60; second++) {
      mine.notifyPeers?.({ is: 'pending', namespace: 'default', key: 'another' })
      await clock.advance(1000)
    }
    expect(server.calls.length - before).toBeLessThan(10)
    expect(said.filter(({ is, key }) => is !== 'level' && key !== 'another')).toEqual([])
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(watching)
  })

  it('that it is settled tells who waits at once, not at the next look', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    server.weather = () => ({ status: 201, json: 'first', delay: 9_000 })
    const first = outcome(place.client({}, mine).post('/charges', { body: 'one', id: 'order:1' }).json())
    await settle(clock)
    const second = place.client({}, theirs).post('/charges', { body: 'one', id: 'order:1' }).json()
    await clock.advance(9_000)
    expect((await first).value).toBe('first')
    expect(await isSettled(second, clock)).toBe(true)
    expect(await second).toBe('first')
    expect(clock.pending()).toBe(0)
  })

  it('that somebody waits keeps the answer of an operation that has only a key', async () => {
    const { place, clock, server, mine, theirs } = twoTabs()
    server.weather = () => ({ status: 201, json: 'first', delay: 5_000 })
    const call = place.client({}, mine).post('/charges', { body: 'one' })
    const first = outcome(call.json())
    await settle(clock)
    const found = await place.client({}, theirs).operation(call.key)
    const second = outcome(found?.result.json() as Promise<unknown>)
    const joined = outcome(place.client({}, theirs).post('/charges', { body: 'one', key: call.key }).json())
    await clock.advance(6_000)
    expect((await first).value).toBe('first')
    expect((await second).value).toBe('first')
    expect((await joined).value).toBe('first')
    expect(server.calls).toHaveLength(1)
  })

  it('is given of journaled operations only', async () => {
    const { place, said, mine } = twoTabs()
    const client = place.client({}, mine)
    await client.get('/charges')
    expect(said).toEqual([])
    const call = client.post('/charges', { body: 'one' })
    await call
    expect(said).toEqual([{ is: 'settled', namespace: 'default', key: call.key }])
  })
})

describe('a watch with nothing to do', () => {
  it('writes nothing', async () => {
    const { place, clock, mine } = twoTabs()
    const client = place.client({}, mine)
    const watching = client.resume({ continuous: true })
    await clock.advance(60_000)
    const claims = client.journal.commands.filter((command) => command.do === 'claim')
    expect(claims).toHaveLength(1)
    await client.close()
    await watching
  })
})
