import { describe, expect, it } from 'vitest'
import { refuseCall } from '../../../../src/client/gate/ask.ts'
import { failingStreak, settled } from '../../../../src/client/gate/gate-state.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const gate = (): GateModel => new GateModel()
const failing = (): GateModel => gate().times(3, 'failure')
/** Its first probe after it has opened has failed as well. */
const open = (): GateModel => failing().pass(5625).try('call', 'failure')

describe('a healthy origin', () => {
  it('gets everything at once', () => {
    expect(gate().ask('call', { inFlight: 10_000 }).is).toBe('sent')
  })

  it('stays healthy for two failures in a row', () => {
    expect(gate().times(2, 'failure').phase).toBe('healthy')
  })

  it('gets fewer at once after a failure, and fewer still if answers are slow beside it', () => {
    const busy = gate().times(20, 'success').end('failure', { inFlight: 100 })
    expect(busy.state.window).toBe(95)
    expect(busy.ask('call', { inPhase: 95 })).toMatchObject({ is: 'waits', until: Number.POSITIVE_INFINITY })
    expect(busy.end('success', { tookMs: 5000, inFlight: 95 }).state.window).toBeCloseTo(85.5)
    expect(busy.end('success', { inFlight: 85 }).state.window).toBeCloseTo(86.5)
  })

  it('gets more again if requests that are alone take as long: then it is slow by itself', () => {
    const slow = gate().times(20, 'success').end('failure', { inFlight: 10 })
    const answer = (tookMs: number, inFlight: number) =>
      slow.pass(tookMs).end('success', { tookMs, inFlight }).state.window
    while ((slow.state.window ?? 0) > 1) answer(800, 9)
    // Two of them: the first one may have met what this client sent before.
    expect([answer(800, 1), answer(800, 1), answer(800, 2)]).toEqual([1, 2, 3])
    expect(answer(2000, 3)).toBeCloseTo(2.7)
  })

  it('is not slow by itself if an answer that came meanwhile shows that a request was not alone', () => {
    const slow = gate().times(20, 'success').end('failure', { inFlight: 10 })
    while ((slow.state.window ?? 0) > 1) slow.pass(400).end('success', { tookMs: 800, inFlight: 9 })
    slow.pass(400).end('success', { tookMs: 800 }).pass(400).end('success', { tookMs: 800 })
    expect(slow.state.window).toBe(1)
  })

  it('is narrowed by no slow answer if nothing fails', () => {
    const slow = gate().times(20, 'success').end('success', { tookMs: 5000, inFlight: 500 })
    expect(slow.state.window).toBeUndefined()
  })

  it('loses the window if it has held nobody up for a hundred answers', () => {
    const calm = gate().end('failure').times(100, 'success', { inFlight: 2 })
    expect(calm.state.window).toBeGreaterThan(100)
    expect(calm.end('success', { inFlight: 2 }).state.window).toBeUndefined()
  })

  it('is narrowed by slow answers no more once a hundred came without a failure', () => {
    const calm = gate().times(20, 'success').end('failure').times(100, 'success', { inFlight: 100 })
    const { window } = calm.state
    expect(calm.end('success', { tookMs: 5000, inFlight: 100 }).state.window).toBe(window)
  })

  it('that asks to come later is narrowed, and neither failing nor paid for', () => {
    const { state, phase } = gate().times(2, 'failure').end('overload', { inFlight: 40 })
    expect(phase).toBe('healthy')
    expect(state).toMatchObject({ failures: 0, tokens: 2 })
    expect(state.window).toBeLessThan(40)
  })
})

/** When so many retries went, each of which failed at once. */
function retried(lone: GateModel, times: number): number[] {
  return Array.from({ length: times }, () => {
    for (let ms = 0; ms < 20_000 && lone.ask('retry').is !== 'sent'; ms++) lone.pass(1)
    lone.end('failure', { kind: 'retry', probe: lone.now, tookMs: 0 })
    return lone.now - START
  })
}

describe('a retry', () => {
  it('costs a token, and waits for one', () => {
    const spent = gate()
    expect([spent.ask('retry').is, spent.ask('retry').is]).toEqual(['sent', 'sent'])
    expect(spent.ask('retry')).toMatchObject({ is: 'waits', until: START + 10_000 })
    expect(spent.end('success').ask('retry').is).toBe('sent')
  })

  it('waits for a report alone if time brings no token', () => {
    const none = new GateModel({ ...LIMITS, budget: { ratio: 0.5, burst: 10, reservePerSecond: 1, rest: 0 } })
    expect(none.ask('retry')).toMatchObject({ is: 'waits', until: Number.POSITIVE_INFINITY })
  })

  it('waits for its time while nothing succeeds, and not if something has', () => {
    const failed = gate().end('failure')
    const spreadUntil = START + 300
    expect(failed.ask('retry', { spreadUntil })).toMatchObject({ is: 'waits', until: spreadUntil })
    expect(failed.end('success').ask('retry', { spreadUntil }).is).toBe('sent')
  })

  it('goes while nothing succeeds for as long as a blip lasts: the tokens of a busy client are spread over it', () => {
    const rich = failing()
    rich.state = { ...rich.state, tokens: 10 }
    expect(retried(rich, 9)).toEqual([50, 704, 1407, 2110, 2813, 3516, 4219, 4719, 5219])
    expect(rich.phase).toBe('open')
    expect(rich.state.tokens).toBeCloseTo(0.5, 0)
  })

  it('goes twice while nothing succeeds if the client is new, the second time when a short blip is over', () => {
    const fresh = failing()
    expect(retried(fresh, 2)).toEqual([50, 1250])
    expect(fresh.ask('retry')).toMatchObject({ is: 'waits', until: START + 5625 })
  })

  it('ends when a blip is over if only time could bring its token; not if a request in flight could', () => {
    const broke = failing()
    retried(broke, 2)
    broke.pass(START + 5624 - broke.now)
    expect(broke.ask('retry').is).toBe('waits')
    expect(broke.pass(1).ask('retry', { inFlight: 1 }).is).toBe('waits')
    expect([broke.ask('retry').is, broke.phase]).toEqual(['open', 'failing'])
    expect(broke.ask('call').is).toBe('sent')
  })

  it('goes when it has a token at a server that is flaky: that it is failing may be chance', () => {
    const flaky = gate()
    for (let index = 0; index < 100; index++) flaky.end(index % 2 === 0 ? 'success' : 'failure')
    flaky.times(13, 'failure').pass(50)
    while (flaky.state.tokens > 2) flaky.state = { ...flaky.state, tokens: flaky.state.tokens - 1 }
    expect([flaky.phase, flaky.ask('retry').is]).toEqual(['failing', 'sent'])
  })

  it('never has more tokens than the burst, and time leads back to rest', () => {
    const rich = gate().times(100, 'success')
    expect(rich.state.tokens).toBe(10)
    expect(settled(rich.state, LIMITS, rich.now + 20_000).tokens).toBeCloseTo(8)
    rich.pass(20_000).ask('retry')
    expect(rich.state.tokens).toBeCloseTo(7)
  })
})

describe('a failing origin', () => {
  it('gets one probe at a time, with a pause that doubles up to half a second', () => {
    const probed = failing()
    const pauses = [50, 100, 200, 400, 500, 500].map((pauseMs) => {
      expect(probed.ask('call')).toMatchObject({ is: 'waits', until: probed.now + pauseMs })
      probed.pass(pauseMs).try('call', 'failure')
      return pauseMs
    })
    expect(pauses).toHaveLength(6)
  })

  it('gets no second one while the first is in flight, but for a while only', () => {
    const probing = failing().pass(50)
    expect(probing.ask('call')).toMatchObject({ is: 'sent', probe: probing.now })
    expect(probing.ask('call')).toMatchObject({ is: 'waits', until: probing.now + 500 })
    expect(probing.pass(500).ask('call').is).toBe('sent')
  })

  it('turns nobody away while a probe is in flight: it may come back in time', () => {
    const probing = failing().pass(50)
    const leaveAt = probing.now + 30
    expect(
      failing()
        .pass(10)
        .ask('call', { leaveAt: START + 49 }),
    ).toMatchObject({ is: 'late', retryAt: START + 50 })
    probing.ask('call')
    expect(probing.ask('call', { leaveAt })).toMatchObject({ is: 'waits', until: probing.now + 500 })
    probing.pass(20).end('success', { probe: probing.now - 20 })
    expect(probing.ask('call', { leaveAt }).is).toBe('sent')
  })

  it('gets the next one at once if a probe has hung for longer than the pause', () => {
    const probing = failing().pass(50)
    probing.ask('call')
    const probe = probing.now
    expect(probing.pass(1000).end('failure', { probe }).ask('call').is).toBe('sent')
  })

  it('gets the next one at once if a probe was aborted', () => {
    const probing = failing().pass(50)
    probing.ask('call')
    expect(probing.end('ignored', { probe: probing.now }).ask('call').is).toBe('sent')
  })

  it('is told from a flaky one by the share of successes', () => {
    expect([1, 0.75, 0.5, 0.25, 0].map(failingStreak)).toEqual([3, 5, 10, 25, 30])
    const flaky = gate()
    for (let index = 0; index < 100; index++) flaky.end(index % 2 === 0 ? 'success' : 'failure')
    expect(flaky.times(5, 'failure').phase).toBe('healthy')
    expect(flaky.times(8, 'failure').phase).toBe('failing')
  })

  it('is not flaky afterwards for all the probes', () => {
    const blip = failing()
    for (let probes = 0; probes < 8; probes++) blip.pass(500).try('call', 'failure')
    expect(failingStreak(blip.pass(500).try('call', 'success').state.share)).toBeLessThanOrEqual(5)
  })

  it('gets one after a success, and one more for each further success', () => {
    const back = failing().pass(50).try('call', 'success')
    expect(back.phase).toBe('healthy')
    expect([0, 1].map((inPhase) => back.ask('call', { inPhase }).is)).toEqual(['sent', 'waits'])
    back.end('success')
    expect([1, 2].map((inPhase) => back.ask('call', { inPhase }).is)).toEqual(['sent', 'waits'])
  })

  it('is one that does not answer, and silence alone opens no breaker', () => {
    const unanswered = { count: 5, since: START }
    const hanging = gate().times(10, 'success').pass(249)
    expect(hanging.ask('call', { unanswered })).not.toHaveProperty('probe')
    expect(hanging.pass(1).ask('call', { unanswered })).toMatchObject({ is: 'sent', probe: hanging.now })
    expect(hanging.phase).toBe('failing')
    expect(hanging.pass(9000).phase).toBe('failing')
    expect(hanging.end('failure').pass(5625).phase).toBe('open')
  })

  it('has all of its requests again after two and a half seconds if it does not answer but does not fail', () => {
    const unanswered = { count: 5, since: START }
    const slow = gate().times(10, 'success').pass(250)
    slow.ask('call', { unanswered })
    const pauses: number[] = []
    for (let asked = 0; asked < 30; asked++) {
      const before = slow.now
      while (slow.ask('call', { unanswered }).is !== 'sent') slow.pass(1)
      pauses.push(slow.now - before)
    }
    expect(pauses.slice(0, 3)).toEqual([400, 320, 256])
    expect(pauses.at(-1)).toBe(1)
    expect(slow.now - START).toBeLessThan(2500)
    expect(slow.end('success')).toMatchObject({ phase: 'healthy', state: { window: undefined } })
  })

  it('is forgotten if nobody has asked for long', () => {
    const forgotten = failing().pass(11_000)
    const answer = forgotten.ask('call')
    expect(answer.is).toBe('sent')
    expect(answer).not.toHaveProperty('probe')
    expect(forgotten.phase).toBe('healthy')
  })

  it('is not forgotten while probes are sent, even if they hang', () => {
    const hanging = failing()
    for (let probes = 0; probes < 5; probes++) expect(hanging.pass(4000).ask('call').is).toBe('sent')
    expect(hanging.phase).toBe('open')
  })
})

describe('an origin that is given up', () => {
  it('is one of which a request has failed that was sent five seconds after the first failure, or later', () => {
    expect(failing().pass(5009).try('call', 'failure').phase).toBe('failing')
    expect(failing().pass(5010).try('call', 'failure').phase).toBe('open')
    expect(gate().end('failure').pass(5010).end('failure').phase).toBe('healthy')
  })

  it('is none of which nothing was asked: only a request can tell', () => {
    expect(failing().pass(9999).phase).toBe('failing')
    expect(failing().pass(9999).try('call', 'success').phase).toBe('healthy')
  })

  it('is one that leaves probes without an answer for two seconds, and those who wait hear of it', () => {
    const waiting = failing().pass(4900)
    waiting.ask('call')
    expect(waiting.ask('retry')).toMatchObject({ is: 'waits', until: START + 5400 })
    waiting.pass(500).ask('call')
    expect(waiting.pass(1499).phase).toBe('failing')
    expect(waiting.ask('kept').is).toBe('sent')
    expect(waiting.pass(1).phase).toBe('open')
  })

  it('stays one if the caller of a probe that hangs has gone', () => {
    const hanging = failing().pass(4900)
    hanging.ask('call')
    const probe = hanging.now
    expect(hanging.pass(2000).end('ignored', { probe }).phase).toBe('open')
    const early = failing().pass(4900)
    early.ask('call')
    expect(early.pass(1999).end('ignored', { probe }).pass(9000).phase).toBe('failing')
  })

  it('ends calls and retries, and lets one call through each two seconds', () => {
    const dead = open()
    expect(dead.ask('call')).toMatchObject({ is: 'open', retryAt: dead.now + 2000 })
    expect(dead.ask('retry').is).toBe('open')
    expect(dead.pass(2000).ask('call')).toMatchObject({ is: 'sent', probe: dead.now })
    expect(dead.ask('call').is).toBe('open')
  })

  it('ends calls also while its probe is held: the server asked for it, or others fill the limit', () => {
    const held = failing()
      .pass(5625)
      .end('failure', { wish: { retryAfterMs: 9000 }, random: () => 0 })
    expect(held.ask('call')).toMatchObject({ is: 'open', retryAt: held.now + 9000 })
    expect(refuseCall(held.state, LIMITS, held.now)).toMatchObject({ retryAt: held.now + 9000 })
    expect(held.ask('kept')).toMatchObject({ is: 'waits', until: held.now + 9000 })
    const full = new GateModel({ ...LIMITS, concurrency: 1 })
      .times(3, 'failure')
      .pass(5625)
      .try('call', 'failure')
      .pass(2000)
    expect(full.ask('call', { inFlight: 1 })).toMatchObject({ is: 'open', retryAt: full.now })
    expect(full.ask('call').is).toBe('sent')
  })

  it('is probed sooner by a client that has refused many calls', () => {
    const busy = open()
    for (let calls = 0; calls < 10; calls++) expect(busy.ask('call').is).toBe('open')
    expect(busy.pass(599).ask('call').is).toBe('open')
    expect(busy.pass(1).ask('call').is).toBe('sent')
  })

  it('is back with the success of a probe, and of nothing else', () => {
    const dead = open()
    expect(dead.end('success').phase).toBe('open')
    dead.pass(2000).try('call', 'success')
    expect(dead.phase).toBe('healthy')
    expect(dead.state.tokens).toBeLessThanOrEqual(2)
  })

  it('never is if there is no breaker, nor does it count as failing', () => {
    const without = new GateModel({ ...LIMITS, breaker: false }).times(3, 'failure').pass(9000)
    expect(without.phase).toBe('healthy')
    expect(without.ask('call').is).toBe('sent')
  })
})

describe('a clock that was set back', () => {
  it('holds nobody up', () => {
    const dead = open().pass(-3_600_000)
    expect(dead.ask('call').is).toBe('sent')
    expect(dead.phase).toBe('healthy')
    expect(gate().pass(-1).ask('call').is).toBe('sent')
  })

  it('leaves what is left of a hold and of a gap, and counts on from there', () => {
    const asked = gate().end('overload', { wish: { retryAfterMs: 2000, spaceMs: 100, spaceForMs: 60_000 } })
    const { now } = asked.pass(-3_600_000)
    expect(asked.ask('call')).toMatchObject({ is: 'waits', until: now + 2100 })
    expect(asked.state).toMatchObject({ at: now, spaceMs: 100, spacedUntil: now + 60_000 })
  })
})

it('every field is a number or absent', () => {
  for (const { state } of [gate(), failing(), open(), failing().pass(50).try('call', 'success')]) {
    for (const [name, value] of Object.entries(state)) expect(value ?? 0, name).toBeTypeOf('number')
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  }
})

it('a breaker that opens while there is a window lets its probe through', () => {
  const flaky = gate()
  for (let index = 0; index < 100; index++) flaky.end(index % 2 === 0 ? 'success' : 'failure')
  flaky.times(4, 'failure').pass(5625).end('failure').pass(2000)
  expect([flaky.phase, flaky.ask('call', { inPhase: 1000 }).is]).toEqual(['open', 'sent'])
})
