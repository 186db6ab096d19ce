import { describe, expect, it } from 'vitest'
import { keptUntil } from '../../../../src/client/gate/ask.ts'
import { GateModel, LIMITS } from './gate-model.ts'

const gate = (): GateModel => new GateModel()

/** How many kept operations may be in flight. */
function atOnce(model: GateModel): number {
  let count = 0
  while (model.ask('kept').is === 'sent') count++
  return count
}

describe('kept operations', () => {
  it('are two at once for a new client', () => {
    expect(atOnce(gate())).toBe(2)
  })

  it('are more with each that succeeds, up to a hundred', () => {
    const done = gate()
    for (let index = 0; index < 10; index++) done.try('kept', 'success')
    expect(atOnce(done)).toBe(13)
    const all = gate()
    for (let index = 0; index < 1000; index++) all.try('kept', 'success')
    expect(atOnce(all)).toBe(100)
  })

  it('are fewer with each that fails, and fewer with a slow answer', () => {
    const done = gate()
    for (let index = 0; index < 20; index++) done.try('kept', 'success')
    const { credit } = done.state
    expect(done.try('kept', 'failure').state.credit).toBe(credit - 1)
    expect(done.end('success', { tookMs: 5000 }).state.credit).toBe((credit - 1) / 2)
    expect(done.end('success', { tookMs: 5000 }).state.gapMs).toBeGreaterThan(0)
  })

  it('give their place back if they were not sent', () => {
    const { state } = gate()
    expect(gate().try('kept', 'ignored').state.credit).toBe(state.credit)
  })

  it('come back after a while if all have failed', () => {
    const broke = gate().try('kept', 'failure').try('kept', 'failure')
    const waiting = broke.ask('kept')
    expect(waiting.is).toBe('waits')
    expect(broke.state.gapMs).toBeGreaterThan(0)
    expect(broke.pass(20_000).ask('kept').is).toBe('sent')
  })

  it('give their place back by a success that comes when the breaker is open', () => {
    const late = gate()
    late.ask('kept')
    const { tokens } = late.times(3, 'failure').pass(5625).end('failure').end('success').state
    expect(late.end('success', { kind: 'kept' }).state.tokens).toBe(tokens + 1)
    expect(late.phase).toBe('open')
  })

  it('are held by the gap alone while requests in flight may bring the token that is missing', () => {
    const slow = gate().try('kept', 'success')
    while (slow.ask('kept').is === 'sent');
    slow.end('success', { kind: 'call', tookMs: 5000 })
    while (slow.state.keptAt <= slow.now && slow.ask('kept').is === 'sent');
    const { keptAt } = slow.state
    expect(keptAt - slow.now).toBeGreaterThan(0)
    expect(keptUntil(slow.state, LIMITS, { now: slow.now, inFlight: 1 })).toBe(keptAt)
    expect(keptUntil(slow.state, LIMITS, { now: slow.now, inFlight: 0 })).toBeGreaterThan(keptAt)
  })

  it('are held by the gap alone if there is no budget', () => {
    const free = new GateModel({ ...LIMITS, budget: false }).try('kept', 'failure')
    expect(free.ask('kept')).toMatchObject({ is: 'waits', until: free.now + 100 })
    expect(free.pass(100).ask('kept').is).toBe('sent')
  })

  it('probe an open breaker, but wait while calls end', () => {
    const dead = gate().times(3, 'failure').pass(5625).try('call', 'failure')
    expect(dead.ask('kept')).toMatchObject({ is: 'waits' })
    expect(keptUntil(dead.state, LIMITS, { now: dead.now, inFlight: 0 })).toBe(dead.now + 2000)
    expect(dead.pass(2000).ask('kept')).toMatchObject({ is: 'sent', probe: dead.now })
  })

  it('are few again after the origin was failing', () => {
    const done = gate()
    for (let index = 0; index < 50; index++) done.try('kept', 'success')
    expect(done.times(3, 'failure').state.credit).toBeLessThanOrEqual(2)
  })
})
