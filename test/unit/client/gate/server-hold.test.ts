import { describe, expect, it } from 'vitest'
import { keptUntil } from '../../../../src/client/gate/ask.ts'
import type { RequestOutcome, ServerWish } from '../../../../src/client/gate/record-outcome.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

function asked(wish: ServerWish, outcome: RequestOutcome = 'overload', dice = 0): GateModel {
  return new GateModel().end(outcome, { wish, random: () => dice })
}

describe('a server that says when to come again', () => {
  it('holds everything until then', () => {
    const held = asked({ retryAfterMs: 2000 })
    for (const kind of ['call', 'retry', 'kept'] as const) {
      expect(held.ask(kind)).toMatchObject({ is: 'waits', until: START + 2000 })
    }
    expect(keptUntil(held.state, LIMITS, { now: START, inFlight: 0 })).toBe(START + 2000)
    held.pass(2000)
    expect(['call', 'retry'].map((kind) => held.ask(kind as 'call').is)).toEqual(['sent', 'sent'])
  })

  it('has its clients come at times that differ by a tenth', () => {
    expect(asked({ retryAfterMs: 2000 }, 'overload', 1).state.nextAt).toBe(START + 2200)
    expect(asked({ retryAfterMs: 2000 }, 'overload', 0.5).state.nextAt).toBe(START + 2100)
  })

  it('holds everything for at most ten seconds', () => {
    expect(asked({ retryAfterMs: 3_600_000 }).ask('call')).toMatchObject({ is: 'waits', until: START + 10_000 })
  })

  it('has those told at once who would not wait for so long', () => {
    const held = asked({ retryAfterMs: 2000 })
    expect(held.ask('call', { leaveAt: START + 1999 })).toMatchObject({ is: 'late', retryAt: START + 2000 })
    expect(held.ask('call', { leaveAt: START + 2000 })).toMatchObject({ is: 'waits' })
  })

  it('takes no longer hold back by a shorter one', () => {
    const held = asked({ retryAfterMs: 5000 }).end('overload', { wish: { retryAfterMs: 1000 } })
    expect(held.state.nextAt).toBe(START + 5000)
  })

  it('holds also with an error, and with a success', () => {
    expect(asked({ retryAfterMs: 2000 }, 'failure').state.nextAt).toBe(START + 2000)
    expect(asked({ retryAfterMs: 2000 }, 'success').state.nextAt).toBe(START + 2000)
  })
})

describe('a quota that is nearly used up', () => {
  const spaced = (): GateModel => asked({ spaceMs: 200, spaceForMs: 1000 }, 'success')

  it('spreads what is left of it over its time', () => {
    const few = spaced()
    expect(few.ask('call').is).toBe('sent')
    expect(few.ask('call')).toMatchObject({ is: 'waits', until: START + 200 })
    expect(few.pass(200).ask('retry').is).toBe('sent')
    expect(few.ask('call')).toMatchObject({ is: 'waits', until: START + 400 })
  })

  it('is full again after its time', () => {
    const few = spaced().pass(1000)
    expect([few.ask('call').is, few.ask('call').is]).toEqual(['sent', 'sent'])
    expect(few.end('success').state.spaceMs).toBe(0)
  })

  it('spreads on while answers do not say more', () => {
    expect(spaced().pass(999).end('success').state.spaceMs).toBe(200)
  })

  it('is full again if an answer asks for another thing only', () => {
    expect(spaced().end('overload', { wish: { retryAfterMs: 10 } }).state).toMatchObject({
      spaceMs: 0,
      spacedUntil: START,
    })
  })

  it('keeps two requests no further apart than the longest hold', () => {
    const few = asked({ spaceMs: 3_600_000, spaceForMs: 3_600_000 }, 'success')
    few.ask('call')
    expect(few.ask('call')).toMatchObject({ is: 'waits', until: START + 10_000 })
  })

  it('counts beside a limit of the caller, and the wider gap holds', () => {
    const both = (perSecond: number): number => {
      const few = new GateModel({ ...LIMITS, perSecond }).end('success', { wish: { spaceMs: 200, spaceForMs: 1000 } })
      few.ask('call')
      return few.state.nextAt - START
    }
    expect([both(1), both(100)]).toEqual([1000, 200])
  })
})
