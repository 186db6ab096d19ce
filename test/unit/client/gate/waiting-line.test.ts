import { describe, expect, it } from 'vitest'
import { type Entry, type Ticket, WaitingLine } from '../../../../src/client/gate/waiting-line.ts'
import type { Clock } from '../../../../src/foundation/clock.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

const FOREVER = Number.POSITIVE_INFINITY
const WELL = { failures: 0 }
const FAILING = { failures: 1 }

interface Named extends Ticket {
  readonly entries: Entry[]
}

function ticket(kind: Ticket['kind'], more: Partial<Ticket> = {}): Named {
  const entries: Entry[] = []
  return { kind, leaveAt: FOREVER, called: (entry) => void entries.push(entry), entries, ...more }
}

function lineOf(...tickets: readonly Ticket[]): WaitingLine {
  return lineBy(manualClock(0), tickets)
}

function lineBy(clock: Clock, tickets: readonly Ticket[]): WaitingLine {
  const line = new WaitingLine()
  for (const one of tickets) line.join(one, clock)
  return line
}

describe('who is next', () => {
  it.each(['call', 'kept'] as const)('is the oldest %s, also while nothing succeeds', (kind) => {
    const [first, ...others] = [300, 200, 100].map((spreadUntil) => ticket(kind, { spreadUntil }))
    const line = lineOf(...(first ? [first] : []), ...others)
    expect([line.next(kind, WELL), line.next(kind, FAILING)]).toEqual([first, first])
  })

  it('is the newest retry, and while nothing succeeds the one whose time comes first', () => {
    const retries = [300, 100, 200, 400].map((spreadUntil) => ticket('retry', { spreadUntil }))
    const line = lineOf(...retries)
    expect(line.next('retry', WELL)).toBe(retries[3])
    expect(line.next('retry', FAILING)).toBe(retries[1])
  })

  it('is the oldest of the retries whose time is the same, and one without a time before others', () => {
    const retries = [200, 200].map((spreadUntil) => ticket('retry', { spreadUntil }))
    expect(lineOf(...retries).next('retry', FAILING)).toBe(retries[0])
    const timeless = ticket('retry')
    expect(lineOf(...retries, timeless).next('retry', FAILING)).toBe(timeless)
  })

  it('is nobody if none waits', () => {
    for (const kind of ['call', 'retry', 'kept'] as const) expect(lineOf().next(kind, FAILING)).toBeUndefined()
  })
})

describe('the line', () => {
  it('knows since when the one that has waited longest does', () => {
    expect(lineOf().oldestAt).toBeUndefined()
    expect(lineOf(ticket('call')).oldestAt).toBeUndefined()
    const kept = ticket('kept', { since: 300 })
    const line = lineOf(kept, ticket('retry', { since: 500 }), ticket('call', { since: 700 }))
    expect(line.oldestAt).toBe(300)
    line.leave(kept)
    expect(line.oldestAt).toBe(500)
  })

  it('has one less when one leaves, once', () => {
    const [one, other] = [ticket('call'), ticket('call')]
    const line = lineOf(one, other)
    line.leave(one)
    line.leave(one)
    expect([line.length, line.count('call'), line.next('call', WELL)]).toEqual([1, 1, other])
  })

  it('lets those go whose time is over, calls first, and knows when the next one wants to', async () => {
    const clock = manualClock(0)
    const kept = ticket('kept', { leaveAt: 100 })
    const calls = [100, 101, 200].map((leaveAt) => ticket('call', { leaveAt }))
    const line = lineBy(clock, [kept, ...calls])
    expect(line.leavesAt).toBe(100)
    await clock.advance(100)
    expect(line.takeLate(clock)).toEqual([calls[0], kept])
    expect([line.leavesAt, line.length, line.count('call'), line.count('kept')]).toEqual([101, 2, 2, 0])
    await clock.advance(100)
    expect(line.takeLate(clock)).toEqual([calls[1], calls[2]])
    expect([line.leavesAt, line.length]).toEqual([FOREVER, 0])
  })

  it('lets them go at their time also if the clock is set back meanwhile', async () => {
    const real = manualClock(1000)
    let aheadMs = 0
    const clock = { ...real, now: () => real.now() + aheadMs, elapsed: () => real.now() }
    const [call, other] = [ticket('call', { leaveAt: 1100 }), ticket('call', { leaveAt: 1200 })]
    const line = lineBy(clock, [call, other])
    aheadMs = -500
    expect([line.leavesAt, line.leaveAt(other)]).toEqual([600, 700])
    await real.advance(100)
    expect(line.takeLate(clock)).toEqual([call])
    expect(line.leavesAt).toBe(700)
  })

  it('tells all that have a caller that the breaker is open, and keeps those without one', () => {
    const [call, retry, kept] = [ticket('call'), ticket('retry'), ticket('kept')]
    const line = lineOf(call, retry, kept)
    line.dismissCalls(700)
    expect([call, retry, kept].map(({ entries }) => entries)).toEqual([
      [{ is: 'open', retryAt: 700 }],
      [{ is: 'open', retryAt: 700 }],
      [],
    ])
    expect([line.length, line.next('kept', WELL)]).toEqual([1, kept])
  })
})
