import { describe, expect, it } from 'vitest'
import type { JournalCommand } from '../../src/client/journal/port.ts'
import { StorageError } from '../../src/index.ts'
import { LEASE_MS, type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const never = (): Promise<void> => new Promise(() => {})

/** Settlements that no handler has taken. */
async function leaveSettled(place: Neighbourhood, name: string, count: number): Promise<void> {
  const client = place.client()
  await Promise.all(Array.from({ length: count }, (_, n) => client.post('/charges', { body: `${name} ${n}`, name })))
  await client.close()
}

/** Pending operations that nobody holds. */
async function leavePending(place: Neighbourhood, name: string, count: number): Promise<void> {
  const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false })
  place.server.weather = () => ({ status: 503 })
  const posts = Array.from({ length: count }, (_, n) => outcome(client.post('/charges', { body: `${n}`, name })))
  for (const { error } of await Promise.all(posts)) expect(error).toMatchObject({ pending: true })
  await client.close()
  place.server.weather = () => 'fine'
  // What was known of the server has been forgotten.
  await place.clock.advance('5m')
}

describe('a handler that hangs', () => {
  for (const how of ['once', 'continuously'] as const) {
    it(`stops no sending by a client that resumes ${how}`, async () => {
      const place = neighbourhood()
      await leaveSettled(place, 'slow', 20)
      await leavePending(place, 'slow', 3)
      const before = totalEffects(place.server)
      const client = place.client()
      client.onSettled('slow', never)
      void client.resume({ continuous: how === 'continuously' })
      await place.clock.advance(1000)
      expect(totalEffects(place.server) - before).toBe(3)
      void client.close({ grace: 0 })
      await settle(place.clock)
    })
  }

  it('stops no delivery of another name, whoever listens to all of them as well', async () => {
    for (const listensToAll of [false, true]) {
      const place = neighbourhood()
      await leaveSettled(place, 'slow', 20)
      await leaveSettled(place, 'quick', 20)
      const client = place.client()
      const told: string[] = []
      client.onSettled('slow', never)
      client.onSettled('quick', () => void told.push('quick'))
      if (listensToAll) client.onSettled('*', () => {})
      void client.resume({ continuous: true })
      await place.clock.advance(1000)
      expect(told).toHaveLength(20)
      void client.close({ grace: 0 })
      await settle(place.clock)
    }
  })

  it('is called for as many settlements at a time as the resume may send, also of operations that it has sent', async () => {
    const place = neighbourhood()
    await leavePending(place, 'slow', 12)
    const client = place.client()
    let under = 0
    let most = 0
    client.onSettled('slow', async () => {
      most = Math.max(most, ++under)
      await place.clock.sleep(1000)
      under--
    })
    const resumed = client.resume({ concurrency: 3 })
    await settle(place.clock)
    expect(totalEffects(place.server)).toBe(12)
    await place.clock.advance(10_000)
    expect(await resumed).toMatchObject({ claimed: 12, succeeded: 12, pending: 0 })
    expect(most).toBe(3)
  })

  it('has its settlements delivered again after five minutes, and a resume ends', async () => {
    const place = neighbourhood()
    await leaveSettled(place, 'slow', 5)
    const client = place.client()
    let calls = 0
    client.onSettled('slow', () => (++calls <= 2 ? never() : undefined))
    const resumed = client.resume({ concurrency: 2 })
    await place.clock.advance(300_000 + LEASE_MS)
    expect(await resumed).toMatchObject({ claimed: 5, succeeded: 5 })
    expect(calls).toBe(5)
    await client.resume()
    expect(calls).toBe(7)
  })
})

it('a resume rejects if the journal fails while it looks for settlements, and the next one delivers them', async () => {
  const place = neighbourhood()
  await leaveSettled(place, 'charge', 2)
  const client = place.client()
  const told: string[] = []
  client.onSettled('charge', ({ status }) => void told.push(status))
  // The search for what can be sent finds nothing here, and does not fail.
  const isSearch = (command: JournalCommand): boolean => 'deliverNames' in command && command.deliverNames.length > 0
  client.journal.fault = (command) => (command.do === 'claim' && isSearch(command) ? 'fail' : undefined)
  await expect(client.resume()).rejects.toBeInstanceOf(StorageError)
  client.journal.fault = undefined
  expect(await client.resume()).toMatchObject({ claimed: 2, succeeded: 2 })
  expect(told).toEqual(['succeeded', 'succeeded'])
})
