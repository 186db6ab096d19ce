import { describe, expect, it } from 'vitest'
import { type EndedAttempt, reportOf } from '../../../../src/client/engine/run/report-of.ts'
import type { HeaderList } from '../../../../src/protocol/headers.ts'

const NOW = 1_735_732_800_000

function answered(status: number, headers: HeaderList = [], more: Partial<EndedAttempt> = {}): EndedAttempt {
  const facts = { is: 'answer', status, headers, problem: undefined, redirected: false, answersGet: false } as const
  return { facts, failed: status >= 400, ours: false, tookMs: 7, now: NOW, ...more }
}

function faulted(fault: { transient: boolean; lasting?: boolean }, ours = false): EndedAttempt {
  const facts = { is: 'fault', mayHaveArrived: true, headStatus: undefined, ...fault } as const
  return { facts, failed: true, ours, tookMs: 7, now: NOW }
}

describe('the gate is told', () => {
  it.each([
    ['an answer', answered(200), 'success'],
    ['a refusal that no other attempt could mend', answered(404, [], { failed: false }), 'success'],
    ['a 429', answered(429), 'overload'],
    ['a 503', answered(503), 'failure'],
    [
      'a 501, which is not tried again: the server is unwell all the same',
      answered(501, [], { failed: false }),
      'failure',
    ],
    ['a connection that broke', faulted({ transient: true }), 'failure'],
    ['a fault that lasts, a wrong certificate say', faulted({ transient: false, lasting: true }), 'failure'],
    ['what was refused on this side', faulted({ transient: false }), 'ignored'],
    ['a fault of an attempt that the caller stopped', faulted({ transient: true }, true), 'ignored'],
    ['an answer that a hook of the caller refused', answered(503, [], { ours: true }), 'ignored'],
  ] as const)('of %s', (_, ended, outcome) => {
    expect(reportOf(ended)).toMatchObject({ outcome, tookMs: 7 })
  })

  it('what the server asks of the requests that come next, whatever it answered', () => {
    expect(reportOf(answered(503, [['retry-after', '2']])).wish).toEqual({ retryAfterMs: 2000 })
    expect(reportOf(answered(429, [['retry-after', '2']])).wish).toEqual({ retryAfterMs: 2000 })
    expect(reportOf(answered(200)).wish).toBeUndefined()
    expect(reportOf(answered(503, [['retry-after', '2']], { ours: true })).wish).toBeUndefined()
  })
})
