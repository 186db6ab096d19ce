import { expect, it } from 'vitest'
import type { HoldfastEvent } from '../../src/index.ts'
import { on } from '../support/fault-journal.ts'
import { LEASE_MS, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

/** Every type that there is: the compiler notices one that is missing here. */
const TYPES: { readonly [Type in HoldfastEvent['type']]: true } = {
  'operation.accepted': true,
  'attempt.started': true,
  'attempt.ended': true,
  'operation.waiting': true,
  'operation.settled': true,
  'operation.resumed': true,
  'lease.lost': true,
  'horizon.shortened': true,
  'budget.exhausted': true,
  'breaker.changed': true,
  'journal.unattended': true,
  'journal.failed': true,
}

/** Each event at least once, with pauses of broken milliseconds. */
async function everything(): Promise<readonly HoldfastEvent[]> {
  const place = neighbourhood()
  const clock = { ...place.clock, now: () => place.clock.now() + 0.25 }
  const options = { clock, deadline: '10m', attemptTimeout: '10m' } as const
  const events: HoldfastEvent[] = []
  const observe = (event: HoldfastEvent): void => void events.push(event)
  const failing = place.client({ ...options, observe, retry: { maxAttempts: 9 }, budget: { burst: 2, ratio: 0 } })
  place.server.weather = () => ({ status: 503, headers: { 'idempotency-retention': '60' } })
  const given = outcome(failing.post('/charges', { body: 'one' }))
  // Its breaker opens by a failure, not by the time.
  await place.clock.advance('10s')
  const later = outcome(failing.post('/charges', { body: 'one more' }))
  await place.clock.advance('50s')
  await Promise.all([given, later])
  place.server.weather = () => 'hang-before'
  const runner = place.client({ ...options, observe })
  const call = outcome(runner.post('/charges', { body: 'two' }))
  await settle(place.clock)
  const ahead = place.client({ observe, clock: { ...clock, now: () => clock.now() + LEASE_MS } })
  place.server.weather = () => 'fine'
  await ahead.resume()
  await place.clock.advance(12_000)
  await call
  const broken = place.client({ ...options, observe })
  broken.journal.fault = on('commit', 'fail')
  await outcome(broken.post('/charges', { body: 'three', id: 'three' }))
  await place.clock.advance('1h')
  await place.client({ ...options, observe }).post('/charges', { body: 'four' })
  await settle(place.clock)
  return events
}

it('no event has a field that loggers write themselves, and all times are whole milliseconds', async () => {
  const events = await everything()
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(Object.keys(TYPES)))
  for (const event of events) {
    for (const name of ['level', 'time', 'msg', 'pid']) expect(event).not.toHaveProperty(name)
    const { at, until = at } = event as { at: number; until?: number }
    expect([at, until].map(Number.isInteger)).toEqual([true, true])
  }
})

it('a wait is told to last no shorter than it does', async () => {
  const waits = (await everything()).flatMap((event) => (event.type === 'operation.waiting' ? [event] : []))
  expect(waits.length).toBeGreaterThan(0)
  for (const { at, until } of waits) expect(until).toBeGreaterThanOrEqual(at)
})

it('an attempt is told to have started before its headers are made', async () => {
  const place = neighbourhood()
  const order: string[] = []
  const client = place.client({
    headers: async () => {
      order.push('headers')
      return {}
    },
    observe: ({ type }) => void order.push(type),
  })
  await client.post('/charges', { body: 'one' })
  expect(order).toEqual(['operation.accepted', 'attempt.started', 'headers', 'attempt.ended', 'operation.settled'])
})
