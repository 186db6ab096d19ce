import { describe, expect, it } from 'vitest'
import { NotSentError } from '../../src/index.ts'
import { street } from '../support/fake-coordination.ts'
import { isSettled, LEASE_MS, leaveBehind, neighbourhood, ORIGIN, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

function offlinePlace() {
  const place = neighbourhood()
  const tab = street().neighbour()
  tab.online = false
  return { ...place, place, tab }
}

describe('without network', () => {
  it('a call waits and then sends its first attempt, at once', async () => {
    const { clock, server, place, tab } = offlinePlace()
    const client = place.client({}, tab)
    const call = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(20_000)
    expect(server.calls).toHaveLength(0)
    tab.online = true
    tab.wake()
    await settle(clock)
    expect((await call).value?.status).toBe(201)
    expect(server.calls).toHaveLength(1)
    expect(clock.pending()).toBe(0)
  })

  it('a call ends at its deadline as not sent, because of the network, and leaves nothing to resume', async () => {
    const { clock, server, place, tab } = offlinePlace()
    const client = place.client({ retry: false }, tab)
    const before = client.budget(ORIGIN)
    const call = outcome(client.post('/charges', { body: 'one', deadline: '5s' }))
    await clock.advance(5000)
    const { error } = await call
    expect(error).toBeInstanceOf(NotSentError)
    expect(error).toMatchObject({ reason: 'network', effect: 'none', pending: false, attempts: [] })
    expect(client.budget(ORIGIN)).toBe(before)
    tab.online = true
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(server.calls).toHaveLength(0)
  })

  it('what is to be kept stays pending, and goes out when the network is back', async () => {
    const { clock, server, place, tab } = offlinePlace()
    const client = place.client({ onGiveUp: 'keep' }, tab)
    const watching = client.resume({ continuous: true })
    const call = outcome(client.post('/charges', { body: 'one', deadline: '5s' }))
    await clock.advance(600_000)
    expect((await call).error).toMatchObject({ reason: 'network', effect: 'none', pending: true })
    const claims = client.journal.commands.filter((command) => command.do === 'claim')
    expect(claims).toHaveLength(0)
    expect(server.calls).toHaveLength(0)
    tab.online = true
    tab.wake()
    await settle(clock)
    expect(totalEffects(server)).toBe(1)
    await client.close()
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('a retry waits too, and takes its token only when it can be sent', async () => {
    const { clock, server, place, tab } = offlinePlace()
    tab.online = true
    const client = place.client({ deadline: '2m', retry: { maxAttempts: 2 } }, tab)
    server.weather = () => {
      tab.online = false
      return 'request-lost'
    }
    const before = client.budget(ORIGIN)
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(clock)
    expect(client.budget(ORIGIN)).toBe(before)
    await clock.advance(60_000)
    expect(server.calls).toHaveLength(1)
    server.weather = () => 'fine'
    tab.online = true
    tab.wake()
    await clock.advance(1000)
    expect((await call).value?.status).toBe(201)
    expect(server.calls).toHaveLength(2)
  })

  it('a retry that never gets a network says so, and that it may have been done', async () => {
    const { clock, server, place, tab } = offlinePlace()
    tab.online = true
    const client = place.client({ deadline: '30s' }, tab)
    server.weather = () => {
      tab.online = false
      return 'answer-lost'
    }
    const call = outcome(client.post('/charges', { body: 'one' }))
    await clock.advance(30_000)
    expect((await call).error).toMatchObject({ reason: 'network', effect: 'unknown', pending: false })
    expect(server.calls).toHaveLength(1)
  })

  it('the lease is kept meanwhile: no neighbour takes it', async () => {
    const { clock, server, place, tab } = offlinePlace()
    const call = outcome(place.client({ deadline: '10m' }, tab).post('/charges', { body: 'one' }))
    await clock.advance(4 * LEASE_MS)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    tab.online = true
    tab.wake()
    await settle(clock)
    expect((await call).value?.status).toBe(201)
    expect(totalEffects(server)).toBe(1)
  })

  it('an abort ends the wait at once', async () => {
    const { clock, place, tab } = offlinePlace()
    const controller = new AbortController()
    const call = outcome(place.client({}, tab).post('/charges', { body: 'one', signal: controller.signal }))
    await settle(clock)
    controller.abort(new Error('enough'))
    await settle(clock)
    expect((await call).error?.message).toBe('enough')
    expect(clock.pending()).toBe(0)
  })

  it('a close ends the wait and leaves it pending', async () => {
    const { clock, place, tab } = offlinePlace()
    const client = place.client({}, tab)
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(clock)
    await client.close()
    expect((await call).error).toMatchObject({ pending: true, effect: 'none' })
    expect(await place.client().resume()).toMatchObject({ succeeded: 1 })
  })

  it('a resume claims nothing, and comes back at once', async () => {
    const { clock, server, place, tab } = offlinePlace()
    await leaveBehind(place)
    await clock.advance(LEASE_MS)
    const before = server.calls.length
    const client = place.client({}, tab)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(server.calls).toHaveLength(before)
  })

  it('a read is tried once, since a service worker may answer it, and then waits', async () => {
    const { clock, server, place, tab } = offlinePlace()
    const client = place.client({ deadline: '2m' }, tab)
    expect((await client.get('/charges')).status).toBe(201)
    server.weather = (_, n) => (n <= 2 ? { fault: 'refused' } : 'fine')
    const call = client.get('/charges')
    await clock.advance(30_000)
    expect(await isSettled(call, clock)).toBe(false)
    expect(server.calls).toHaveLength(2)
    tab.online = true
    tab.wake()
    await clock.advance(1000)
    expect((await call).status).toBe(201)
  })
})

describe('a platform that does not know', () => {
  it('is taken for online', async () => {
    const place = neighbourhood()
    const { isOnline: _, ...tab } = street().neighbour()
    expect((await place.client({}, tab).post('/charges', { body: 'one' })).status).toBe(201)
  })
})
