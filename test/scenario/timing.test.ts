import { describe, expect, it } from 'vitest'
import type { HoldfastEvent, Jitter } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { elapse, failure, scenario } from '../support/client-scenario.ts'

const START = Date.UTC(2025, 0, 1, 12)

/** How long it waits between two attempts after an answer with these headers. */
async function waitAfter(headers: Record<string, string>, random: () => number = () => 0): Promise<number> {
  const clock = manualClock(START)
  const { client, fetch } = scenario([{ status: 503, headers }, { status: 200 }], {
    clock,
    random,
    deadline: '2h',
    retry: { base: 100 },
  })
  await elapse(clock, 2 * 3_600_000, client.post('/a'))
  return (fetch.calls[1]?.at ?? 0) - (fetch.calls[0]?.at ?? 0)
}

describe('the time that the server asks for', () => {
  const asked: readonly (readonly [headers: Record<string, string>, ms: number])[] = [
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': '0', 'retry-after': '9' }, 0],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '3', 'ratelimit-reset': '9' }, 3000],
    [{ 'retry-after': 'Wed, 01 Jan 2025 12:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Wednesday, 01-Jan-25 12:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Wed Jan  1 12:00:05 2025' }, 5000],
    [{ 'retry-after': 'Wed, 01 Jan 2025 11:00:00 GMT' }, 0],
    [{ 'ratelimit-reset': '4' }, 4000],
    [{ 'x-ratelimit-reset': '6' }, 6000],
    [{ 'x-ratelimit-reset': String(START / 1000 + 8) }, 8000],
  ]
  for (const [headers, ms] of asked) {
    it(`${JSON.stringify(headers)} is a wait of ${ms} ms, never less`, async () => {
      expect(await waitAfter(headers)).toBe(ms)
    })
  }

  it('gets its jitter only on top', async () => {
    const waits = await Promise.all(
      Array.from({ length: 20 }, (_, seed) => waitAfter({ 'retry-after': '3' }, seededRandom(seed))),
    )
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(3000)
    // A tenth at the gate, for all; and the backoff of this call.
    expect(Math.max(...waits)).toBeLessThan(3000 + 300 + 101)
    expect(new Set(waits).size).toBeGreaterThan(15)
  })

  for (const value of ['', 'soon', '-5', '1.5', '1e1', '0x10', 'Feb 30']) {
    it(`that makes no sense (${JSON.stringify(value)}) loses its timing only, and promotes no other header`, async () => {
      const wait = await waitAfter({ 'retry-after': value, 'ratelimit-reset': '900' }, () => 0.5)
      expect(wait).toBe(50)
    })
  }

  it('is obeyed also where it is longer than a timer can be', async () => {
    const clock = manualClock(START)
    const { client, fetch } = scenario([{ status: 503, headers: { 'retry-after': '3000000' } }, { status: 200 }], {
      clock,
      deadline: '100d',
    })
    const handle = client.get('/a')
    await clock.advance(2_999_999_000)
    expect(fetch.calls).toHaveLength(1)
    await clock.advance(2000)
    expect((await handle).status).toBe(200)
  })

  it('that would pass the deadline ends the call now, with retryAt', async () => {
    for (const status of [429, 503]) {
      const clock = manualClock(START)
      const { client, fetch } = scenario([{ status, headers: { 'retry-after': '31' } }], { clock })
      const error = await elapse(clock, 0, failure(client.post('/a')))
      expect(clock.now()).toBe(START)
      expect(error).toMatchObject({ reason: 'deadline', retryAt: START + 31_000, pending: false })
      expect(fetch.calls).toHaveLength(1)
      expect(clock.pending()).toBe(0)
    }
  })

  it('just before the deadline is waited for, without the jitter that would pass it', async () => {
    const clock = manualClock(START)
    const { client, fetch } = scenario([{ status: 503, headers: { 'retry-after': '29' } }, { status: 200 }], {
      clock,
      random: () => 0.999,
      deadline: 29_010,
    })
    await elapse(clock, 29_010, client.post('/a'))
    expect((fetch.calls[1]?.at ?? 0) - START).toBe(29_000)
  })

  it('is on the error also where the attempts are used up', async () => {
    const clock = manualClock(START)
    const { client } = scenario([{ status: 429, headers: { 'retry-after': '5' } }], { clock, retry: false })
    expect(await elapse(clock, 0, failure(client.post('/a')))).toMatchObject({
      reason: 'attempts',
      retryAt: START + 5000,
    })
  })
})

describe('the delay between attempts', () => {
  async function delays(jitter: Jitter | undefined, random: () => number, attempts = 10): Promise<number[]> {
    const waits: number[] = []
    const { client, clock } = scenario(() => ({ status: 503 }), {
      retry: { jitter, maxAttempts: attempts },
      random,
      budget: false,
      breaker: false,
      deadline: '1h',
      observe: (event: HoldfastEvent) => {
        if (event.type === 'operation.waiting') waits.push(event.until - event.at)
      },
    })
    await elapse(clock, 3_600_000, failure(client.post('/a')))
    return waits
  }

  it('without jitter doubles from 100 ms to the cap of 20 s', async () => {
    expect(await delays('none', () => 0)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 20_000])
  })
  it('is full by default: anywhere below that', async () => {
    const half = [50, 100, 200, 400, 800, 1600, 3200, 6400, 10_000]
    expect(await delays(undefined, () => 0.5)).toEqual(half)
    expect(await delays('full', () => 0.5)).toEqual(half)
  })
  it('is equal: the upper half', async () => {
    expect(await delays('equal', () => 0)).toEqual([50, 100, 200, 400, 800, 1600, 3200, 6400, 10_000])
  })
  it('is decorrelated: from the base to three times the one before', async () => {
    expect(await delays('decorrelated', () => 0)).toEqual(new Array(9).fill(100))
    const waits = await delays('decorrelated', seededRandom(3))
    let previous = 100
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(100)
      expect(wait).toBeLessThanOrEqual(Math.min(20_000, 3 * previous))
      previous = wait
    }
  })
  it('still differs at the cap', async () => {
    const waits = await delays('full', seededRandom(5), 120)
    const atCap = waits.slice(8)
    expect(new Set(atCap).size).toBeGreaterThan(atCap.length * 0.9)
    for (const wait of atCap) expect(wait).toBeLessThanOrEqual(20_000)
  })
  it('of two clients that failed together differs', async () => {
    const [first, second] = await Promise.all([delays('full', Math.random), delays('full', Math.random)])
    expect(first).not.toEqual(second)
  })
})
