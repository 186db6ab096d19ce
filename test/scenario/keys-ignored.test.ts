import { describe, expect, it } from 'vitest'
import { type ClientOptions, ConfigurationError, memoryJournal, type Settlement } from '../../src/index.ts'
import type { ScriptedStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, ORIGIN, rejection, rowsOf, scenario } from '../support/client-scenario.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { isSettled, LEASE_MS, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const MINUTE = 60_000
const IGNORED = { honoursKeys: false } as const

describe('a server that ignores keys', () => {
  const once: readonly (readonly [string, ScriptedStep, object])[] = [
    ['a lost answer', { fault: 'reset' }, { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' }],
    ['a timeout', { hang: true }, { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' }],
    ['a 500', { status: 500 }, { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' }],
    ['a 503', { status: 503 }, { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' }],
    ['a 408', { status: 408 }, { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' }],
  ]
  for (const method of ['POST', 'PATCH']) {
    it.each(once)(`gets a ${method} once: after %s`, async (_, step, expected) => {
      const { client, clock, fetch } = scenario(() => step as { status: number }, IGNORED)
      const error = await elapse(clock, MINUTE, failure(client.request(method, '/a')))
      expect(error).toMatchObject({ ...expected, pending: false })
      expect(fetch.calls).toHaveLength(1)
    })
  }

  it.each([
    ['a refused connection', { fault: 'refused' }],
    ['an unknown host', { fault: 'dns' }],
    ['a 429', { status: 429 }],
    ['a 503 that says when to come back', { status: 503, headers: { 'retry-after': '1' } }],
  ] as const)('gets it again where it certainly was not done: after %s', async (_, step) => {
    const { client, clock, fetch, events } = scenario([step, { status: 201 }], IGNORED)
    expect((await elapse(clock, MINUTE, client.post('/a'))).status).toBe(201)
    expect(fetch.calls).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({ type: 'operation.settled', mayHaveRepeated: false })
  })

  it('gets what is idempotent by its method again all the same', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 200 }], IGNORED)
    await elapse(clock, MINUTE, client.put('/a', { body: 'x' }))
    expect(fetch.calls).toHaveLength(2)
  })

  it('is known by its URL, where a function says so', async () => {
    const asked: string[] = []
    const honoursKeys = (url: string, method: string): boolean => {
      asked.push(`${method} ${url}`)
      return !url.includes('/legacy/')
    }
    const { client, clock, fetch } = scenario(() => ({ status: 503 }), { honoursKeys, retry: { maxAttempts: 2 } })
    await elapse(clock, MINUTE, failure(client.post('/legacy/a')))
    await elapse(clock, MINUTE, failure(client.post('/new/a')))
    expect(asked).toEqual([`POST ${ORIGIN}/legacy/a`, `POST ${ORIGIN}/new/a`])
    expect(fetch.calls.map(({ url }) => url)).toEqual([`${ORIGIN}/legacy/a`, `${ORIGIN}/new/a`, `${ORIGIN}/new/a`])
  })

  it('may not be told by anything but true, false or a function that says one of them', () => {
    expect(() => scenario([], { honoursKeys: 'no' as never })).toThrow(ConfigurationError)
    const { client } = scenario([], { honoursKeys: (() => 'no') as never })
    expect(() => client.post('/a')).toThrow(/honoursKeys\(url, method\)/)
  })

  it('is not asked again by a resume where the operation may have arrived: it has failed, perhaps done', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-after'
    const dead = place.client(IGNORED)
    dead.post('/charges', { body: 'one', name: 'charge' }).catch(() => {})
    await settle(place.clock)
    dead.journal.crash()
    await place.clock.advance(LEASE_MS + 1)
    place.server.weather = () => 'fine'
    // Recorded with the operation: the client that resumes it need not say it.
    const client = place.client()
    const told: Settlement[] = []
    client.onSettled('charge', (settlement) => told.push(settlement))
    expect(await client.resume()).toMatchObject({ claimed: 1, failed: 1 })
    expect(place.server.calls).toHaveLength(1)
    expect(told).toMatchObject([
      { status: 'failed', error: { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' } },
    ])
  })

  it.each([
    ['ignores keys, as the client was told', IGNORED, {}, false],
    ['shows no sign of keys', {}, {}, false],
    ['shows that it knows keys', {}, { 'idempotency-retention': '86400' }, true],
  ] as const)(
    'has its success on record before the caller hears of it, unless the key is known there: one that %s',
    async (...row) => {
      const [, options, headers, told] = row
      const place = neighbourhood()
      place.server.weather = () => ({ status: 201, headers })
      const { client, held } = clientOnHeldDisk(place, options)
      const release = held.hold('commit', 'before')
      const call = client.post('/charges', { body: 'one' })
      expect(await isSettled(call, place.clock)).toBe(told)
      release()
      expect((await call).status).toBe(201)
    },
  )

  it('is asked by a resume where the operation certainly did not arrive', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    await outcome(place.client({ ...IGNORED, retry: false, onGiveUp: 'keep' }).post('/charges', { body: 'one' }))
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('is not asked again by a retry by key, nor by the same id, where the operation may have arrived', async () => {
    const { client, clock, fetch } = scenario(() => ({ fault: 'reset' }), IGNORED)
    await elapse(clock, MINUTE, failure(client.post('/a', { id: 'i' })))
    const again = { effect: 'unknown', reason: 'not-replayable' }
    expect(await elapse(clock, MINUTE, failure(client.retry('i')))).toMatchObject(again)
    expect(await elapse(clock, MINUTE, failure(client.post('/a', { id: 'i' })))).toMatchObject(again)
    expect(fetch.calls).toHaveLength(1)
  })

  it('is what client.fetch takes a server for, unless the request brings its own key', async () => {
    const call = { method: 'POST', body: 'x' }
    const plain = scenario(() => ({ fault: 'reset' }))
    await elapse(plain.clock, MINUTE, rejection(plain.client.fetch('/a', call)))
    expect(plain.fetch.calls).toHaveLength(1)
    const keyed = scenario([{ fault: 'reset' }, { status: 201 }])
    const headers = { 'Idempotency-Key': 'sdk-1' }
    expect((await elapse(keyed.clock, MINUTE, keyed.client.fetch('/a', { ...call, headers }))).status).toBe(201)
    expect(keyed.fetch.calls).toHaveLength(2)
    const told = scenario([{ fault: 'reset' }, { status: 201 }], { honoursKeys: true })
    expect((await elapse(told.clock, MINUTE, told.client.fetch('/a', call))).status).toBe(201)
  })

  it('leaves a 4xx after an attempt of unknown fate unknown', async () => {
    const { client, clock } = scenario([{ fault: 'reset' }, { status: 404 }], IGNORED)
    const error = await elapse(clock, MINUTE, failure(client.delete('/a')))
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })

  it('is noted in the record only where it is one', async () => {
    const journal = memoryJournal()
    await scenario([{ status: 200 }], { journal }).client.post('/a')
    await scenario([{ status: 200 }], { journal, ...IGNORED }).client.post('/b')
    const heads = (await rowsOf(journal)).map(({ head }) => JSON.parse(head) as { honoursKeys?: boolean })
    expect(heads.map(({ honoursKeys }) => honoursKeys)).toEqual([undefined, false])
  })
})

describe('a success after an attempt of unknown fate', () => {
  async function settled(steps: readonly ScriptedStep[], options: ClientOptions = {}, method = 'POST') {
    const { client, clock, events } = scenario(steps, options)
    const told: Settlement[] = []
    client.onSettled('n', (settlement) => told.push(settlement))
    const key = client.request(method, '/a', { name: 'n' })
    await elapse(clock, MINUTE, key)
    await client.flush()
    const event = events.find(({ type }) => type === 'operation.settled') as { mayHaveRepeated: boolean } | undefined
    expect(told[0]?.mayHaveRepeated).toBe(event?.mayHaveRepeated)
    return event?.mayHaveRepeated
  }

  it('may have been repeated where the server shows no sign of keys', async () => {
    for (const first of [{ fault: 'reset' }, { status: 503 }, { hang: true }] as const) {
      expect(await settled([first, { status: 201 }], { attemptTimeout: '1s' })).toBe(true)
    }
  })

  it.each([
    ['the dedup window', { 'idempotency-retention': '86400' }],
    ['our mark of a replay', { 'idempotency-replayed': 'true' }],
    ["Stripe's mark of a replay", { 'idempotent-replayed': 'true' }],
  ])('was not repeated where the server shows %s', async (_, headers) => {
    expect(await settled([{ fault: 'reset' }, { status: 201, headers }])).toBe(false)
  })

  it('was not repeated where the server sends the key back', async () => {
    const { client, clock, events } = scenario([
      { fault: 'reset' },
      { status: 201, headers: { 'idempotency-key': 'k' } },
    ])
    await elapse(clock, MINUTE, client.post('/a', { key: 'k' }))
    expect(events.at(-1)).toMatchObject({ type: 'operation.settled', mayHaveRepeated: false })
  })

  it('was not repeated where nothing can have arrived before, or the method is idempotent', async () => {
    expect(await settled([{ status: 201 }])).toBe(false)
    expect(await settled([{ fault: 'refused' }, { status: 201 }])).toBe(false)
    expect(await settled([{ fault: 'reset' }, { status: 201 }], {}, 'PUT')).toBe(false)
  })
})
