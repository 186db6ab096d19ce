import { describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/index.ts'
import { failure, scenario, turn } from '../support/client-scenario.ts'
import { heldJournal } from '../support/held-journal.ts'
import { neighbourhood, outcome, settle } from '../support/shared-clients.ts'

/** A second client joins by id and looks it up, while its disk has not yet said what is there. */
async function lookedUpEarly(disk: Journal) {
  const journal = heldJournal(disk)
  const second = scenario([], { journal })
  const release = journal.hold('append', 'after')
  const joined = second.client.post('/a', { id: 'order:1' })
  await turn()
  return { second, joined, found: second.client.operation('order:1'), release }
}

describe('an operation that is looked up while its call is being written', () => {
  it('shows the key that it really has: that of the operation whose id the call has joined', async () => {
    const disk = memoryJournal()
    const first = scenario([{ status: 201, body: 'done' }], { journal: disk })
    const done = first.client.post('/a', { id: 'order:1' })
    await done
    await first.client.flush()
    const { joined, found, release } = await lookedUpEarly(disk)
    await turn()
    release()
    expect((await found)?.key).toBe(done.key)
    expect(await joined.text()).toBe('done')
  })

  it('shows what became of it while this process, which does not run it, waited for the answer of its disk', async () => {
    const disk = memoryJournal()
    const keeps = { journal: disk, onGiveUp: 'keep', retry: false } as const
    const first = scenario([{ status: 429 }, { status: 201, body: 'done' }], keeps)
    expect(await failure(first.client.post('/a', { id: 'order:1' }))).toMatchObject({ effect: 'none', pending: true })
    const { second, joined, found, release } = await lookedUpEarly(disk)
    await first.clock.advance(60_000)
    expect(await first.client.resume()).toMatchObject({ succeeded: 1 })
    release()
    expect(await found).toMatchObject({ status: 'succeeded', effect: 'applied' })
    await second.clock.advance(60_000)
    expect(await joined.text()).toBe('done')
  })
})

describe('an operation that is looked up after a freeze', () => {
  it('shows what the runner has made of it that has taken it over', async () => {
    const place = neighbourhood()
    let frozenMs = 0
    const frozen = place.client({ clock: { ...place.clock, now: () => place.clock.now() + frozenMs }, deadline: '5m' })
    const other = place.client({ clock: { ...place.clock, now: () => place.clock.now() + 40_000 } })
    place.server.weather = (_, n) => (n === 1 ? 'hang-before' : { status: 201, json: 'done' })
    const handle = frozen.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await handle.accepted
    await settle(place.clock)
    const resumed = other.resume()
    await place.clock.advance(500)
    expect(await resumed).toMatchObject({ succeeded: 1 })
    frozenMs = 40_000
    expect(await frozen.operation(handle.key)).toMatchObject({ status: 'succeeded', effect: 'applied' })
    await place.clock.advance(60_000)
    expect((await call).value?.status).toBe(201)
  })
})

describe('an operation that is looked up by a client that waits for another one to do it', () => {
  it('may have been done, as soon as the other one has sent it', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 429 })
    const runner = place.client({ retry: { jitter: 'none', base: 100 } })
    const order = { body: 'one', id: 'order:1' }
    const call = outcome(runner.post('/charges', order))
    await settle(place.clock)
    const waiting = place.client()
    const joined = outcome(waiting.post('/charges', order))
    await settle(place.clock)
    expect(await waiting.operation('order:1')).toMatchObject({ status: 'pending', effect: 'none' })
    place.server.weather = () => 'hang-after'
    await place.clock.advance(110)
    expect(await waiting.operation('order:1')).toMatchObject({ status: 'pending', effect: 'unknown' })
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect([(await call).value?.status, (await joined).value?.status]).toEqual([201, 201])
  })
})
