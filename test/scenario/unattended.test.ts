import { afterEach, expect, it, vi } from 'vitest'
import { KEPT_MS, LEASE_MS, leaveBehind, neighbourhood, settle, type TestClient } from '../support/shared-clients.ts'

afterEach(() => void vi.unstubAllEnvs())

function notices(client: TestClient) {
  return client.events.filter((event) => event.type === 'journal.unattended')
}

async function placeWithLeftovers() {
  const place = neighbourhood()
  const acceptedAt = place.clock.now()
  await leaveBehind(place)
  await leaveBehind(place)
  await place.clock.advance(LEASE_MS + KEPT_MS)
  return { place, acceptedAt }
}

it('a client that finds operations of a dead run, and does not resume, says so once', async () => {
  const { place, acceptedAt } = await placeWithLeftovers()
  const client = place.client()
  for (const body of ['one', 'two']) {
    await client.post('/charges', { body })
    await place.clock.advance(KEPT_MS)
  }
  expect(notices(client)).toMatchObject([{ operations: 2, oldestAt: acceptedAt }])
})

it('a client that resumes says nothing', async () => {
  const { place } = await placeWithLeftovers()
  const client = place.client()
  const resumed = client.resume()
  await client.post('/charges', { body: 'one' })
  await resumed
  await client.flush()
  expect(notices(client)).toEqual([])
})

it('nothing is said where nothing is left, or where a live runner has it', async () => {
  const place = neighbourhood()
  place.server.weather = (_, n) => (n === 1 ? 'hang-before' : 'fine')
  const running = place.client()
  running.post('/charges', { body: 'one' }).catch(() => {})
  await settle(place.clock)
  const client = place.client()
  await client.post('/charges', { body: 'two' })
  await client.flush()
  expect(notices(client)).toEqual([])
})

it.each([
  ['development', 1],
  ['', 1],
  ['production', 0],
  ['test', 0],
])('with NODE_ENV=%j it is told on stderr %i times', async (env, times) => {
  vi.stubEnv('NODE_ENV', env)
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const { place } = await placeWithLeftovers()
    const client = place.client()
    await client.post('/charges', { body: 'one' })
    await client.flush()
    const lines = written.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('holdfast: '))
    expect(lines).toHaveLength(times)
    for (const line of lines) expect(line).toMatch(/^holdfast: 2 operations .* client\.resume\(.*\n$/)
  } finally {
    written.mockRestore()
  }
})
