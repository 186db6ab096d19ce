import { describe, expect, it } from 'vitest'
import { A_TOKEN } from '../../../../src/client/gate/bucket.ts'
import type { GateLimits } from '../../../../src/client/gate/gate-limits.ts'
import { type GateState, newGateState } from '../../../../src/client/gate/gate-state.ts'
import { type OriginView, viewOfUnused, viewOrigin } from '../../../../src/client/gate/origin-view.ts'
import { type Traffic, TrafficCount } from '../../../../src/client/gate/traffic.ts'
import { type Ticket, WaitingLine } from '../../../../src/client/gate/waiting-line.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const NEW = newGateState(LIMITS, START)
const FAILING = new GateModel().times(3, 'failure').state
const OPEN = new GateModel().times(3, 'failure').pass(6000).try('call', 'failure').state
const BROKE = { ...NEW, tokens: 0.5 }
const PAUSED = { ...NEW, gapMs: 4000, keptAt: START + 4000 }
const PAST = '2025-01-01T12:00:00Z'

interface Scene {
  readonly state?: GateState
  readonly limits?: Partial<GateLimits>
  /** Since the state was made. */
  readonly after?: number
  readonly traffic?: Partial<Traffic>
  readonly waiting?: readonly Ticket['kind'][]
}

function view({ state = NEW, limits, after = 0, traffic, waiting = [] }: Scene): OriginView {
  const now = START + after
  const line = new WaitingLine()
  for (const kind of waiting) line.join({ kind, leaveAt: Number.POSITIVE_INFINITY, called: () => {} }, CLOCK)
  return viewOrigin(state, { ...LIMITS, ...limits }, { ...new TrafficCount().at(now), ...traffic, line })
}

const CLOCK = manualClock()
const HEALTHY = { state: 'healthy', nextAttemptAt: undefined, reason: undefined } as const

describe('the view of an origin', () => {
  it.each<[string, Scene, Partial<OriginView>]>([
    ['that nobody has called', {}, { ...HEALTHY, waiting: 0, inFlight: 0, tokens: 2, lastSuccessAt: undefined }],
    ['that is well and busy', { traffic: { inFlight: 9, inPhase: 9 } }, { ...HEALTHY, inFlight: 9 }],
    ['without a budget', { limits: { budget: false } }, { tokens: Number.POSITIVE_INFINITY }],
    [
      'that is failing, while nothing waits',
      { state: FAILING },
      { state: 'failing', nextAttemptAt: START + 50, reason: `failing since ${PAST}; next request in 0.1 s` },
    ],
    [
      'that is failing, with a crowd',
      { state: { ...FAILING, probeAt: START + 750 }, waiting: ['retry', 'call', 'kept'] },
      { waiting: 3, nextAttemptAt: START + 750, reason: `failing since ${PAST}; 3 wait; next request in 0.8 s` },
    ],
    [
      'that is failing, where the next request is due',
      { state: FAILING, after: 100, waiting: ['call'] },
      { state: 'failing', nextAttemptAt: undefined, reason: `failing since ${PAST}; 1 waits` },
    ],
    [
      'that is failing, where a retry has no token',
      { state: { ...FAILING, tokens: 0 }, waiting: ['retry'] },
      { nextAttemptAt: START + 10_000, reason: `failing since ${PAST}; 1 waits; next request in 10 s` },
    ],
    ['that was failing long ago', { state: FAILING, after: 60_000 }, HEALTHY],
    [
      'whose breaker is open',
      { state: OPEN, after: 6000 },
      {
        state: 'open',
        nextAttemptAt: START + 8000,
        reason: `breaker open, failing since ${PAST}; next request in 2 s`,
      },
    ],
    [
      'that has stopped answering',
      {
        state: { ...NEW, answers: 10, usualMs: 20 },
        after: 2000,
        traffic: { inFlight: 5, inPhase: 5, unanswered: { count: 5, since: START } },
      },
      { state: 'failing', reason: `no answer since ${PAST}` },
    ],
    [
      'that asks to wait',
      { state: { ...NEW, nextAt: START + 3000 } },
      { ...HEALTHY, nextAttemptAt: START + 3000, reason: 'the server asks to wait (Retry-After); next request in 3 s' },
    ],
    [
      'whose quota is nearly used up',
      { state: { ...NEW, nextAt: START + 400, spaceMs: 500, spacedUntil: START + 9000 }, waiting: ['call'] },
      { reason: "the server's quota is nearly used up; 1 waits; next request in 0.4 s" },
    ],
    [
      'that was silent, by a state from elsewhere',
      { state: { ...NEW, failures: 3 } },
      { state: 'failing', nextAttemptAt: undefined, reason: 'failing' },
    ],
    [
      'that asks to wait, when the time of its quota is just over',
      { state: { ...NEW, nextAt: START + 400, spaceMs: 500, spacedUntil: START } },
      { reason: 'the server asks to wait (Retry-After); next request in 0.4 s' },
    ],
    [
      'that asks to wait until a token has come for the retry, too',
      { state: { ...BROKE, nextAt: START + 5000 }, waiting: ['retry'] },
      { reason: 'the server asks to wait (Retry-After); 1 waits; next request in 5 s' },
    ],
    [
      'that asks to wait longer than its quota would',
      { state: { ...NEW, nextAt: START + 4000, spaceMs: 500, spacedUntil: START + 9000 } },
      { reason: 'the server asks to wait (Retry-After); next request in 4 s' },
    ],
    [
      'with a ceiling per second',
      { limits: { perSecond: 2 }, state: { ...NEW, nextAt: START + 500 } },
      { reason: 'as many as `limits` allows; next request in 0.5 s' },
    ],
    [
      'that asks to wait longer than the ceiling would',
      { limits: { perSecond: 2 }, state: { ...NEW, nextAt: START + 501 } },
      { reason: 'the server asks to wait (Retry-After); next request in 0.6 s' },
    ],
    [
      'whose quota leaves as much as the ceiling',
      { limits: { perSecond: 2 }, state: { ...NEW, nextAt: START + 500, spaceMs: 500, spacedUntil: START + 9000 } },
      { reason: 'as many as `limits` allows; next request in 0.5 s' },
    ],
    [
      'with a ceiling of requests at once',
      { limits: { concurrency: 2 }, traffic: { inFlight: 2, inPhase: 2 }, waiting: ['call', 'call'] },
      { state: 'healthy', nextAttemptAt: undefined, reason: 'as many as `limits` allows; 2 wait' },
    ],
    [
      'to which the page has six connections',
      { limits: { connections: () => 6 }, traffic: { inFlight: 5, inPhase: 5, reading: 1 }, waiting: ['call'] },
      { reason: 'all connections of the page are in use; 1 waits' },
    ],
    [
      'after a failure',
      { state: { ...NEW, window: 7.6 }, traffic: { inFlight: 8, inPhase: 8 }, waiting: ['call'] },
      { reason: '7 at once after a failure; 1 waits' },
    ],
    [
      'with as many kept operations as it may bear',
      { traffic: { inFlight: 256, inPhase: 256, kept: 256 }, waiting: ['kept'] },
      { reason: '256 kept operations are in flight; 1 waits' },
    ],
    [
      'after a failure, where a kept operation waits',
      { state: { ...NEW, window: 7.6 }, traffic: { inFlight: 8, inPhase: 8, kept: 8 }, waiting: ['kept'] },
      { reason: '7 at once after a failure; 1 waits' },
    ],
    [
      'after a failure, where kept operations are many and a call waits',
      { state: { ...NEW, window: 256 }, traffic: { inFlight: 256, inPhase: 256, kept: 256 }, waiting: ['call'] },
      { reason: '256 at once after a failure; 1 waits' },
    ],
    [
      'where a retry waits for a token',
      { state: BROKE, waiting: ['retry'], traffic: { inFlight: 1 } },
      { nextAttemptAt: START + 5000, reason: 'no token for a retry; 1 waits; next request in 5 s' },
    ],
    [
      'where a kept operation waits in the journal for a token',
      { state: BROKE },
      { nextAttemptAt: START + 5000, reason: 'no token for a kept operation; next request in 5 s' },
    ],
    ['whose token may come with an answer', { state: BROKE, traffic: { inFlight: 1 } }, HEALTHY],
    [
      'where kept operations pause',
      { state: PAUSED },
      { ...HEALTHY, nextAttemptAt: START + 4000, reason: 'pause between kept operations; next request in 4 s' },
    ],
    [
      'that never has a token, and needs none',
      { limits: { budget: { ratio: 0, burst: 0, reservePerSecond: 0, rest: 0 } }, state: { ...NEW, tokens: 0 } },
      HEALTHY,
    ],
    [
      'whose journal has times that are none',
      { state: { ...FAILING, failedAt: -1e300 } },
      { state: 'open', reason: 'breaker open, failing since ?; next request in 0.1 s' },
    ],
  ])('%s', (_, scene, expected) => {
    expect(view(scene)).toMatchObject(expected)
  })

  it('has the last success', () => {
    expect(view({ state: new GateModel().end('success').state, after: 700 }).lastSuccessAt).toBe(START)
  })

  it('of a retry that is spread', () => {
    const line = new WaitingLine()
    const spreadUntil = START + 900
    line.join({ kind: 'retry', spreadUntil, leaveAt: START + 9000, called: () => {} }, CLOCK)
    const state = { ...new GateModel().end('failure').state, tokens: A_TOKEN }
    const queue = { ...new TrafficCount().at(START), line }
    expect(viewOrigin(state, LIMITS, queue).reason).toBe(
      'a retry waits until a blip may be over; 1 waits; next request in 0.9 s',
    )
  })

  it('changes nothing', () => {
    const before = JSON.stringify(FAILING)
    view({ state: FAILING, after: 60_000, waiting: ['call'] })
    expect(JSON.stringify(FAILING)).toBe(before)
  })

  it('of a state without a gate has no traffic', () => {
    expect(viewOfUnused(undefined, LIMITS, START)).toEqual(view({}))
    expect(viewOfUnused(OPEN, LIMITS, START + 6000)).toEqual(view({ state: OPEN, after: 6000 }))
  })
})
