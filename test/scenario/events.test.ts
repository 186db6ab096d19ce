import { describe, expect, it } from 'vitest'
import { type HoldfastEvent, memoryJournal } from '../../src/index.ts'
import { elapse, failure, ORIGIN, rejection, scenario, typesOf } from '../support/client-scenario.ts'

const MINUTE = 60_000

describe('the events', () => {
  it('of a clean call', async () => {
    const { client, clock, events } = scenario([
      { status: 201, delay: 30, headers: { 'idempotency-replayed': 'true' } },
    ])
    const at = clock.now()
    const handle = client.post('/a?token=x', { id: 'i', name: 'n' })
    await elapse(clock, 30, handle)
    const about = { operation: { key: handle.key, id: 'i', name: 'n' }, method: 'POST', url: `${ORIGIN}/a` }
    expect(events).toEqual([
      { type: 'operation.accepted', at, ...about, durability: 'memory' },
      { type: 'attempt.started', at, ...about, attempt: 1 },
      {
        type: 'attempt.ended',
        at: at + 30,
        ...about,
        attempt: { number: 1, startedAt: at, durationMs: 30, status: 201, fault: undefined },
        effect: 'applied',
      },
      {
        type: 'operation.settled',
        at: at + 30,
        ...about,
        status: 'succeeded',
        reason: undefined,
        effect: 'applied',
        attempts: 1,
        replayed: true,
        mayHaveRepeated: false,
      },
    ])
  })

  it('of a call that is not journaled: the same, but it is not accepted', async () => {
    const { client, events } = scenario([{ status: 200 }])
    await client.get('/a')
    expect(typesOf(events)).toEqual(['attempt.started', 'attempt.ended', 'operation.settled'])
  })

  it('of a call that is retried', async () => {
    const { client, clock, events } = scenario([{ status: 503 }, { fault: 'reset' }, { status: 200 }], {
      retry: { jitter: 'none' },
    })
    const at = clock.now()
    await elapse(clock, MINUTE, client.post('/a'))
    expect(typesOf(events)).toEqual([
      'operation.accepted',
      'attempt.started',
      'attempt.ended',
      'operation.waiting',
      'attempt.started',
      'attempt.ended',
      'operation.waiting',
      'attempt.started',
      'attempt.ended',
      'operation.settled',
    ])
    expect(events[3]).toMatchObject({ at, until: at + 100, reason: 'status' })
    expect(events[5]).toMatchObject({ attempt: { number: 2, fault: 'ECONNRESET' }, effect: 'unknown' })
    expect(events[6]).toMatchObject({ at: at + 100, until: at + 300, reason: 'network' })
    expect(events[9]).toMatchObject({ status: 'succeeded', attempts: 3, replayed: false, mayHaveRepeated: true })
  })

  it('all name the key of their operation, at every attempt, and in the process that resumes it', async () => {
    const journal = memoryJournal()
    const events: HoldfastEvent[] = []
    const observe = (event: HoldfastEvent): void => void events.push(event)
    const first = scenario(() => ({ status: 503 }), { journal, observe, onGiveUp: 'keep', breaker: false })
    const handle = first.client.post('/a', { id: 'i' })
    await elapse(first.clock, MINUTE, failure(handle))
    await first.client.close()
    const second = scenario(() => ({ status: 201 }), { journal, observe, clock: first.clock })
    await first.clock.advance(MINUTE)
    expect(await second.client.resume()).toMatchObject({ succeeded: 1 })
    const attempts = events.filter(({ type }) => type === 'attempt.started')
    expect(attempts.map((event) => 'attempt' in event && event.attempt)).toEqual([1, 2, 3, 4, 5, 6])
    const ofOrigin = events.flatMap((event) => ('operation' in event ? [] : [event.type]))
    expect(new Set(ofOrigin)).toEqual(new Set(['breaker.changed']))
    const keys = events.flatMap((event) => ('operation' in event ? [event.operation.key] : []))
    expect(new Set(keys)).toEqual(new Set([handle.key]))
  })

  it('of a call that gives up', async () => {
    const { client, clock, events } = scenario(() => ({ fault: 'refused' }), { retry: { maxAttempts: 2 } })
    await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(typesOf(events).slice(-3)).toEqual(['attempt.started', 'attempt.ended', 'operation.settled'])
    expect(events.at(-1)).toMatchObject({ status: 'failed', reason: 'attempts', effect: 'none', attempts: 2 })
  })

  it('of a call that is refused', async () => {
    const { client, events } = scenario([{ status: 404 }])
    await failure(client.post('/a'))
    expect(typesOf(events)).toEqual(['operation.accepted', 'attempt.started', 'attempt.ended', 'operation.settled'])
    expect(events.at(-1)).toMatchObject({ status: 'rejected', reason: 'status', effect: 'none' })
  })

  it('of a call that is kept', async () => {
    const { client, clock, events } = scenario(() => ({ status: 503 }), { onGiveUp: 'keep', retry: false })
    await elapse(clock, 0, failure(client.post('/a')))
    expect(typesOf(events)).toEqual(['operation.accepted', 'attempt.started', 'attempt.ended', 'operation.waiting'])
    expect(events.at(-1)).toMatchObject({ reason: 'attempts' })
  })

  it('of a call that is cancelled', async () => {
    const { client, clock, events } = scenario(() => ({ hang: true }))
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { signal: controller.signal }))
    await clock.advance(5)
    controller.abort()
    await failed
    expect(typesOf(events)).toEqual(['operation.accepted', 'attempt.started', 'attempt.ended', 'operation.settled'])
    expect(events.at(-1)).toMatchObject({ status: 'cancelled', reason: 'aborted', effect: 'unknown' })
  })

  it('of an empty budget', async () => {
    const { client, clock, events } = scenario(() => ({ status: 503 }), { budget: { burst: 0 } })
    await elapse(clock, 0, failure(client.post('/a')))
    expect(typesOf(events)).toEqual([
      'operation.accepted',
      'attempt.started',
      'attempt.ended',
      'budget.exhausted',
      'operation.settled',
    ])
    expect(events[3]).toEqual({ type: 'budget.exhausted', at: clock.now(), origin: ORIGIN })
  })

  it('of a breaker', async () => {
    const { client, clock, events } = scenario(() => ({ status: 503 }), {
      retry: false,
      breaker: { openAfter: 8 },
      random: () => 0.5,
    })
    for (let n = 0; n < 3; n++) await failure(client.post('/a'))
    await elapse(clock, 50, failure(client.post('/a')))
    expect(events.find((event) => event.type === 'breaker.changed')).toEqual({
      type: 'breaker.changed',
      at: clock.now(),
      origin: ORIGIN,
      from: 'closed',
      to: 'open',
    })
  })

  it('settle every operation exactly once', async () => {
    const { client, clock, events } = scenario(
      (_call, n) => (n % 3 === 0 ? { status: 200 } : n % 3 === 1 ? { status: 503 } : { fault: 'reset' }),
      {
        budget: false,
        breaker: false,
      },
    )
    const handles = Array.from({ length: 30 }, (_, n) => client.post('/a', { json: n }))
    await elapse(clock, MINUTE, Promise.allSettled(handles))
    const settled = events.flatMap((event) => (event.type === 'operation.settled' ? [event.operation.key] : []))
    expect(settled.sort()).toEqual(handles.map((handle) => handle.key).sort())
  })
})

describe('an observer', () => {
  const observers: Record<string, (event: HoldfastEvent) => void> = {
    throws: () => {
      throw new Error('observer')
    },
    rejects: async () => {
      throw new Error('observer')
    },
    'gives a promise that is none of the platform': (() => {
      const place = scenario([{ status: 400 }])
      return place.client.get('/inner').json()
    }) as () => unknown as () => void,
    'changes what it is told': (event) => {
      for (const name of Object.keys(event)) Reflect.set(event, name, 'x')
      Reflect.set((event as { operation?: object }).operation ?? {}, 'key', 'x')
    },
  }
  for (const [what, observe] of Object.entries(observers)) {
    it(`that ${what} breaks nothing`, async () => {
      const { client, clock } = scenario([{ status: 503 }, { status: 200, body: 'x' }], { observe })
      const handle = client.post('/a')
      const { key } = handle
      expect(await elapse(clock, MINUTE, handle.text())).toBe('x')
      expect(handle.key).toBe(key)
      expect(clock.pending()).toBe(0)
    })
  }

  it('that makes calls of its own is not in the way', async () => {
    let inner: Promise<unknown> | undefined
    const place = scenario(() => ({ status: 200, body: 'x' }), {
      observe: (event) => {
        if (event.type === 'operation.settled' && !inner) inner = place.client.get('/b').text()
      },
    })
    await place.client.post('/a')
    expect(await inner).toBe('x')
  })
})
