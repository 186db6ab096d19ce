import { describe, expect, it } from 'vitest'
import { createRetryBudget, memoryJournal } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { elapse, failure, ORIGIN, scenario, turn } from '../support/client-scenario.ts'

const DEAD = () => ({ status: 503 })
const WELL = { state: 'healthy', waiting: 0, inFlight: 0, nextAttemptAt: undefined, reason: undefined }
const LIKE_A_TIME = /^failing since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/

describe('client.origin', () => {
  it('of an origin that was never called says that all is well, however many are asked about', () => {
    const { client } = scenario(DEAD, { budget: {} })
    for (let n = 0; n < 2000; n++) {
      expect(client.origin(`https://n${n}.test`)).toEqual({ ...WELL, tokens: 2, lastSuccessAt: undefined })
    }
    expect(client.budget('https://n0.test')).toBe(2)
  })

  it('takes any URL of the origin, or a path', async () => {
    const { client, clock } = scenario(() => ({ status: 200 }))
    await client.get('/a')
    const lastSuccessAt = clock.now()
    for (const url of [ORIGIN, `${ORIGIN}/b/c?d=1`, '/b', 'b', new URL(`${ORIGIN}/e`)]) {
      expect(client.origin(url)).toMatchObject({ ...WELL, lastSuccessAt })
    }
    expect(client.origin('https://other.test')).toMatchObject({ lastSuccessAt: undefined })
  })

  it('refuses what is no URL', () => {
    const { client } = scenario(DEAD, { baseUrl: undefined })
    for (const url of ['/path', '//host', '', undefined as never, 'not a url']) {
      expect(() => client.origin(url)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }))
    }
  })

  it('counts the requests in flight, and has infinitely many tokens without a budget', async () => {
    const { client, clock } = scenario(() => ({ status: 200, delay: 100 }), { budget: false })
    const calls = [client.get('/a'), client.get('/b')]
    await turn()
    expect(client.origin('/')).toMatchObject({ ...WELL, inFlight: 2, tokens: Number.POSITIVE_INFINITY })
    await elapse(clock, 100, Promise.all(calls))
    expect(client.origin('/')).toMatchObject(WELL)
  })

  it('says since when it is failing, how many wait, and when the next request goes', async () => {
    let isWell = false
    const { client, clock } = scenario(() => ({ status: isWell ? 200 : 503 }))
    const began = clock.now()
    const calls = Array.from({ length: 3 }, () => client.post('/a'))
    await clock.advance(0)
    calls.push(...Array.from({ length: 40 }, () => client.post('/b')))
    await clock.advance(20)
    const { nextAttemptAt = 0, ...view } = client.origin('/')
    expect(view).toMatchObject({ state: 'failing', inFlight: 0, lastSuccessAt: undefined })
    expect(view.waiting).toBeGreaterThanOrEqual(40)
    expect(nextAttemptAt).toBeGreaterThan(clock.now())
    const { waiting } = view
    const since = new Date(began).toISOString().replace('.000Z', 'Z')
    const left = Math.ceil((nextAttemptAt - clock.now()) / 100) / 10
    expect(view.reason).toBe(`failing since ${since}; ${waiting} wait; next request in ${left} s`)
    isWell = true
    await elapse(clock, 5000, Promise.all(calls))
    expect(client.origin('/')).toMatchObject(WELL)
  })

  it('says that the circuit breaker is open, and when it probes', async () => {
    const { client, clock } = scenario(DEAD)
    await elapse(clock, 10_000, Promise.all(Array.from({ length: 5 }, () => failure(client.post('/a')))))
    const { state, waiting, nextAttemptAt, reason } = client.origin('/')
    expect({ state, waiting }).toEqual({ state: 'open', waiting: 0 })
    expect(reason).toMatch(/^breaker open, failing since /)
    if (nextAttemptAt !== undefined) expect(nextAttemptAt).toBeGreaterThan(clock.now())
    // Nobody has sent anything for so long that the failures say nothing of now.
    await clock.advance(60_000)
    expect(client.origin('/')).toMatchObject({ state: 'healthy' })
  })

  it('names a Retry-After', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '4' } }, { status: 200 }]
    const { client, clock } = scenario(answers)
    const call = client.post('/a')
    await clock.advance(0)
    const { nextAttemptAt = 0, reason } = client.origin('/')
    expect(nextAttemptAt).toBeGreaterThanOrEqual(clock.now() + 4000)
    expect(reason).toMatch(/^the server asks to wait \(Retry-After\); (1 waits; )?next request in 4(\.\d)? s$/)
    await elapse(clock, 9000, call)
    expect(client.origin('/')).toMatchObject(WELL)
  })

  it('names the limits that the caller has set', async () => {
    const limits = { concurrency: 2 }
    const { client, clock } = scenario(() => ({ status: 200, delay: 100 }), { limits })
    const calls = Array.from({ length: 5 }, () => client.get('/a'))
    await turn()
    const reason = 'as many as `limits` allows; 3 wait'
    expect(client.origin('/')).toMatchObject({ state: 'healthy', inFlight: 2, waiting: 3, reason })
    await elapse(clock, 400, Promise.all(calls))
    const slow = scenario(() => ({ status: 200 }), { limits: { perSecond: 2 } })
    const both = [slow.client.get('/a'), slow.client.get('/b')]
    await turn()
    const until = { nextAttemptAt: slow.clock.now() + 500, waiting: 1 }
    expect(slow.client.origin('/')).toMatchObject({
      ...until,
      reason: 'as many as `limits` allows; 1 waits; next request in 0.5 s',
    })
    await elapse(slow.clock, 2000, Promise.all(both))
  })

  it('names a quota that is nearly used up', async () => {
    const headers = { 'ratelimit-policy': '"q";q=100;w=60', ratelimit: '"q";r=2;t=20' }
    const { client, clock } = scenario(() => ({ status: 200, headers }))
    await client.get('/a')
    await client.get('/a')
    const call = client.get('/a')
    await turn()
    expect(client.origin('/').reason).toMatch(/^the server's quota is nearly used up; 1 waits; next request in \d/)
    await elapse(clock, 60_000, call)
  })

  it('names the pause between kept operations, which wait in the journal', async () => {
    const options = { clock: manualClock(), journal: memoryJournal(), onGiveUp: 'keep' } as const
    const { client, clock } = scenario(DEAD, options)
    await elapse(clock, 10_000, Promise.all(Array.from({ length: 3 }, () => failure(client.post('/a')))))
    const stop = new AbortController()
    const resume = client.resume({ continuous: true, signal: stop.signal })
    // Until the pause lasts for longer than an operation waits at its gate.
    await clock.advance(60_000)
    const { reason, nextAttemptAt = 0 } = client.origin('/')
    expect(reason).toMatch(/^pause between kept operations; next request in \d+(\.\d)? s$/)
    expect(nextAttemptAt).toBeGreaterThan(clock.now())
    stop.abort()
    await elapse(clock, 60_000, resume)
  })

  it('knows what clients that share a budget have seen, but not what waits with them', async () => {
    const clock = manualClock()
    const budget = createRetryBudget()
    const one = scenario(DEAD, { clock, budget })
    const other = scenario(DEAD, { clock, budget })
    const calls = Array.from({ length: 5 }, () => failure(one.client.post('/a')))
    await clock.advance(100)
    expect(one.client.origin('/').waiting).toBeGreaterThan(0)
    expect(other.client.origin('/')).toMatchObject({ state: 'failing', waiting: 0, inFlight: 0 })
    expect(other.client.origin('/').reason).toMatch(LIKE_A_TIME)
    await elapse(clock, 60_000, Promise.all(calls))
  })
})
