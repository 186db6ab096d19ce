import { describe, expect, it } from 'vitest'
import type { OperationView } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood, outcome, type TestClient } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** Pending operations that nobody holds, and what was known of their server is forgotten. */
async function leavePending(place: Neighbourhood, count: number, options: object = {}): Promise<void> {
  const client = place.client({
    onGiveUp: 'keep',
    retry: false,
    budget: false,
    breaker: false,
    deadline: '1s',
    ...options,
  })
  place.server.weather = () => ({ fault: 'refused' })
  const calls = Array.from({ length: count }, (_, n) => outcome(client.post('/orders', { body: `${n}` })))
  await place.clock.advance(2000)
  await Promise.all(calls)
  await client.close()
  await place.clock.advance('5m')
  place.server.weather = () => 'fine'
}

async function listed(client: TestClient): Promise<OperationView[]> {
  const views: OperationView[] = []
  for await (const view of client.operations()) views.push(view)
  return views
}

/** How many writes of records, without renewals and claims, a resume makes. */
async function writesOfResume(place: Neighbourhood): Promise<number> {
  const { execute } = place.disk
  let writes = 0
  place.disk.execute = async (commands) => {
    writes += commands.filter(
      (one) => one.do === 'write' && typeof one.change === 'object' && 'head' in one.change,
    ).length
    return execute.call(place.disk, commands)
  }
  const resumed = place.client().resume({ concurrency: 8 })
  await place.clock.advance(60_000)
  await resumed
  return writes
}

describe('an operation that a resume takes up costs the journal', () => {
  it('its claim, which puts the attempt on record, and its settlement', async () => {
    const place = neighbourhood()
    await leavePending(place, 40)
    expect(await writesOfResume(place)).toBe(40)
    expect(totalEffects(place.server)).toBe(40)
  })

  it('a write before its request as well where the server ignores keys', async () => {
    const place = neighbourhood()
    await leavePending(place, 20, { honoursKeys: false })
    expect(await writesOfResume(place)).toBe(40)
  })
})

describe('an operation that was claimed to be sent', () => {
  it('may have arrived if its process dies right after the claim', async () => {
    const place = neighbourhood()
    await leavePending(place, 1)
    const dying = place.client()
    place.server.weather = () => 'hang-before'
    void dying.resume().catch(() => {})
    await place.clock.advance(10)
    const [view] = await listed(dying)
    expect(view).toMatchObject({ status: 'pending', inFlight: true, effect: 'unknown' })
    const closed = dying.close({ grace: 0 })
    await place.clock.advance(1000)
    await closed
  })

  it('has not, if it is put back before it leaves', async () => {
    const place = neighbourhood()
    await leavePending(place, 3)
    const other = place.client({ baseUrl: 'http://other.test' })
    const resumed = other.resume()
    await place.clock.advance(1000)
    await resumed
    for (const view of await listed(other))
      expect(view).toMatchObject({ status: 'pending', inFlight: false, effect: 'none' })
  })
})
