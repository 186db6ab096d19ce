import { describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

describe('a post', () => {
  it('is answered, and leaves its record behind for a minute', async () => {
    const fetch = scriptedFetch([{ status: 201, json: { id: 1 } }])
    const journal = memoryJournal()
    const clock = manualClock()
    const client = createClient({ baseUrl: 'http://127.0.0.1:1/', fetch, journal, clock })
    const handle = client.post('/charges', { json: { amount: 5000 } })
    expect(handle.key).toMatch(/^[0-9a-f-]{36}$/)
    expect(await handle.json()).toEqual({ id: 1 })
    await client.flush()
    expect(fetch.calls[0]?.headers['idempotency-key']).toBe(handle.key)
    expect(await client.operation(handle.key)).toMatchObject({ status: 'succeeded', effect: 'applied' })
    await clock.advance(60_000)
    await client.resume()
    await client.flush()
    expect(await client.operation(handle.key)).toBeUndefined()
  })

  it('is retried with the same key and bytes, after a pause each time, until it is answered', async () => {
    const clock = manualClock()
    const fetch = scriptedFetch([{ status: 503 }, { fault: 'reset' }, { status: 200, json: 'ok' }], { clock })
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1/',
      fetch,
      journal: memoryJournal(),
      clock,
      random: seededRandom(1),
      budget: { burst: 4 },
    })
    const answer = client.post('/charges', { json: { amount: 5000 } }).json()
    await clock.advance(60_000)
    expect(await answer).toBe('ok')
    expect(fetch.calls).toHaveLength(3)
    const [first = 0, second = 0, third = 0] = fetch.calls.map((call) => call.at)
    expect([second - first, third - second].map((wait) => wait > 0)).toEqual([true, true])
    expect(new Set(fetch.calls.map((call) => call.headers['idempotency-key'])).size).toBe(1)
    expect(new Set(fetch.calls.map((call) => call.text)).size).toBe(1)
    expect(clock.pending()).toBe(0)
  })
})
