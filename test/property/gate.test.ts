import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask } from '../../src/client/gate/ask.ts'
import type { BudgetLimits, GateLimits } from '../../src/client/gate/gate-limits.ts'
import { type GateState, newGateState, phaseOf, type RequestKind } from '../../src/client/gate/gate-state.ts'
import { OriginGate } from '../../src/client/gate/origin-gate.ts'
import { type RequestOutcome, recordOutcome, type ServerWish } from '../../src/client/gate/record-outcome.ts'
import { restoreGate } from '../../src/client/gate/stored-gate.ts'
import type { Sent } from '../../src/client/gate/waiting-line.ts'
import type { Clock } from '../../src/foundation/clock.ts'

const START = 1_750_000_000_000
const BREAKER = { openAfterMs: 5000, openForMs: 2000 }
const FOREVER = Number.POSITIVE_INFINITY

const budgets: fc.Arbitrary<BudgetLimits> = fc
  .record({
    ratio: fc.double({ min: 0, max: 3, noNaN: true }),
    burst: fc.integer({ min: 0, max: 20 }),
    reservePerSecond: fc.constantFrom(0, 0.1, 2),
    isSet: fc.boolean(),
  })
  .map(({ isSet, ...limits }) => ({ ...limits, rest: isSet ? limits.burst : Math.min(2, limits.burst) }))

const breakers = fc.record({
  openAfterMs: fc.integer({ min: 10, max: 10_000 }),
  openForMs: fc.integer({ min: 10, max: 5000 }),
})

interface Bounded extends GateLimits {
  readonly budget: BudgetLimits
}

const bounded: fc.Arbitrary<Bounded> = fc.record({
  budget: budgets,
  breaker: fc.option(breakers, { nil: false as const }),
  concurrency: fc.constantFrom(undefined, undefined, 1, 3),
  perSecond: fc.constantFrom(undefined, undefined, 0.5, 10),
})

const wishes: fc.Arbitrary<ServerWish | undefined> = fc.option(
  fc.record(
    {
      retryAfterMs: fc.integer({ min: 0, max: 100_000 }),
      spaceMs: fc.integer({ min: 0, max: 20_000 }),
      spaceForMs: fc.integer({ min: 0, max: 100_000 }),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined, freq: 4 },
)

const step = fc.record({
  elapsed: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 15_000 })),
  kind: fc.constantFrom<RequestKind>('call', 'call', 'retry', 'kept'),
  outcome: fc.constantFrom<RequestOutcome>('success', 'failure', 'failure', 'overload', 'ignored'),
  tookMs: fc.integer({ min: 1, max: 2000 }),
  inPhase: fc.integer({ min: 0, max: 30 }),
  dice: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  wish: wishes,
})

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/** One of a hundred steps sets the clock back. */
const jumpingStep = fc
  .tuple(step, fc.integer({ min: 0, max: 99 }))
  .map(([one, chance]) => (chance === 0 ? { ...one, elapsed: -one.elapsed * 1000 } : one))

interface Taken extends Step {
  readonly before: GateState
  readonly after: GateState
  readonly isSent: boolean
  readonly probe: number | undefined
  readonly now: number
}

/** One request at a time, each with its end. What may not go is given up. */
function historyOf(limits: GateLimits, steps: readonly Step[]): Taken[] {
  let now = START
  let state = newGateState(limits, now)
  return steps.map((one) => {
    now += one.elapsed
    const before = state
    const random = (): number => one.dice
    const traffic = {
      inPhase: one.inPhase,
      inFlight: one.inPhase,
      kept: 0,
      reading: 0,
      unanswered: { count: 0, since: now },
    }
    const answer = ask(before, limits, { now, kind: one.kind, random, leaveAt: FOREVER, ...traffic })
    const isSent = answer.is === 'sent'
    const probe = isSent ? answer.probe : undefined
    const ended = { ...one, now, random, probe, inFlight: one.inPhase + 1 }
    state = isSent ? recordOutcome(answer.state, limits, ended) : answer.state
    return { ...one, before, after: state, isSent, probe, now }
  })
}

function histories(check: (limits: Bounded, taken: readonly Taken[]) => void, steps: fc.Arbitrary<Step> = jumpingStep) {
  const lists = fc.array(steps, { maxLength: 150, size: 'max' })
  fc.assert(fc.property(bounded, lists, (limits, list) => check(limits, historyOf(limits, list))))
}

/** What successes and the time pay for beside what there is at the start. */
function affordable({ budget }: Bounded, taken: readonly Taken[]): number {
  const successes = taken.filter(({ isSent, outcome }) => isSent && outcome === 'success').length
  const seconds = ((taken.at(-1)?.now ?? START) - START) / 1000
  return budget.burst + budget.ratio * successes + budget.reservePerSecond * seconds + 1e-6
}

const IN_VAIN: readonly RequestOutcome[] = ['failure', 'overload']

describe('the state of a gate', () => {
  test('lets no more retries go than burst, ratio times successes and the reserve pay for', () => {
    histories((limits, taken) => {
      const requests = taken.filter(({ isSent, kind }) => isSent && kind !== 'kept').length
      const calls = taken.filter(({ isSent, kind }) => isSent && kind === 'call').length
      expect(requests).toBeLessThanOrEqual(calls + affordable(limits, taken))
    }, step)
  })

  test('sends no more kept operations in vain than burst, ratio times successes and the reserve pay for', () => {
    histories((limits, taken) => {
      const inVain = taken.filter(({ isSent, kind, outcome }) => isSent && kind === 'kept' && IN_VAIN.includes(outcome))
      expect(inVain.length).toBeLessThanOrEqual(affordable(limits, taken))
    }, step)
  })

  test('keeps its tokens between none and the burst, and all its numbers finite', () => {
    histories(({ budget }, taken) => {
      for (const { after } of taken) {
        // A token is one but for rounding.
        expect(after.tokens).toBeGreaterThan(-1e-8)
        expect(after.tokens).toBeLessThanOrEqual(budget.burst)
        expect(Object.values(after).every((value) => value === undefined || Number.isFinite(value))).toBe(true)
      }
    })
  })

  test('holds nobody for longer than the longest hold, the gap of the caller or a probe', () => {
    histories((limits, taken) => {
      const gapMs = limits.perSecond === undefined ? 0 : 1000 / limits.perSecond
      for (const { after, now } of taken) {
        expect(after.nextAt - now).toBeLessThanOrEqual(Math.max(11_000, gapMs))
        expect(after.probeAt - now).toBeLessThanOrEqual(5000 * 1.25)
      }
    })
  })

  test('is not closed by a request that was sent before it opened', () => {
    histories((bounds, taken) => {
      const limits = { ...bounds, breaker: bounds.breaker || BREAKER }
      for (const { before, now: failedAt } of taken) {
        const now = failedAt + limits.breaker.openAfterMs * 2
        const after = { ...before, failures: 3, failedAt, triedAt: now - 1, probe: undefined, probeAt: now }
        expect(phaseOf(after, limits, now)).toBe('open')
        const late = { now, kind: 'call', outcome: 'success', tookMs: 1, inFlight: 1, random: () => 0.5 } as const
        expect(phaseOf(recordOutcome(after, limits, late), limits, now)).toBe('open')
      }
    }, step)
  })

  test('goes on after a restart with no more than a new client has', () => {
    histories((limits, taken) => {
      for (const { after, now } of taken) {
        const restored = restoreGate(JSON.parse(JSON.stringify(after)), limits, now)
        expect(restored).toBeDefined()
        expect(restored?.tokens).toBe(Math.min(after.tokens, limits.budget.rest))
        expect(restored?.credit).toBeLessThanOrEqual(limits.budget.rest)
        if (limits.breaker && restored) expect(phaseOf(restored, limits, now)).toBe(phaseOf(after, limits, now))
      }
    }, step)
  })
})

/** A clock whose timers fire when they are told to. */
class Timers {
  time = START
  readonly timers = new Set<{ readonly at: number; readonly run: () => void }>()

  readonly clock: Clock = {
    now: () => this.time,
    sleep: () => Promise.reject(new Error('nobody sleeps here')),
    after: (ms, run) => {
      const timer = { at: this.time + ms, run }
      this.timers.add(timer)
      return () => void this.timers.delete(timer)
    },
  }

  fireNext(): void {
    const [first] = [...this.timers].sort((one, other) => one.at - other.at)
    if (!first) return
    this.timers.delete(first)
    this.time = Math.max(this.time, first.at)
    first.run()
  }
}

/** In 15 seconds: more are a loop. */
const MOST_TIMERS = 1000

const command = fc.record({
  do: fc.constantFrom('enter', 'enter', 'enter', 'end', 'end', 'time', 'wait'),
  which: fc.nat({ max: 50 }),
  patienceMs: fc.constantFrom(FOREVER, FOREVER, 100, 5000),
  step,
})

type Command = typeof command extends fc.Arbitrary<infer One> ? One : never

/** Tickets at a gate. Those that are sent stay in flight until a command ends them. */
class Crowd {
  readonly timers = new Timers()
  readonly inFlight: Sent[] = []
  readonly gate: OriginGate
  entered = 0
  answered = 0
  #dice = 0.5

  constructor(limits: GateLimits) {
    const store = { state: undefined }
    this.gate = new OriginGate({ limits, clock: this.timers.clock, random: () => this.#dice, store })
  }

  obey({ do: what, which, patienceMs, step: { kind, elapsed, dice, ...ended } }: Command): void {
    this.#dice = dice
    if (what === 'enter') this.#enter(kind, this.timers.time + patienceMs)
    else if (what === 'end') this.end(which, ended)
    else if (what === 'time') this.timers.fireNext()
    else {
      const until = this.timers.time + elapsed
      for (let fired = 0; [...this.timers.timers].some(({ at }) => at <= until); fired++) {
        if (fired > MOST_TIMERS) throw new Error('a timer is set again and again')
        this.timers.fireNext()
      }
      this.timers.time = until
    }
  }

  #enter(kind: RequestKind, leaveAt: number): void {
    this.entered++
    const called = (entry: { readonly is: string }): void => {
      this.answered++
      if (entry.is === 'sent') this.inFlight.push(entry as Sent)
    }
    const ticket = { kind, leaveAt, called }
    const entry = this.gate.enter(ticket)
    if (entry) called(entry)
    else this.gate.join(ticket)
  }

  end(which: number, { outcome, tookMs, wish }: Pick<Step, 'outcome' | 'tookMs' | 'wish'>): void {
    const [sent] = this.inFlight.splice(which % Math.max(1, this.inFlight.length), 1)
    if (sent) this.gate.report(sent, { outcome, tookMs, wish })
  }
}

/** With such a budget a token comes with time alone. */
const mending: fc.Arbitrary<GateLimits> = fc
  .tuple(bounded, fc.boolean())
  .map(([limits, isFree]) =>
    isFree
      ? { ...limits, budget: false as const }
      : { ...limits, budget: { ...limits.budget, burst: 10, rest: 2, reservePerSecond: 0.1 } },
  )

const commands = fc.array(command, { maxLength: 100, size: 'max' })

describe('the queue of a gate', () => {
  test('never has a ticket stuck: a timer is set or a request is in flight, also where nobody wants to leave', () => {
    const property = fc.property(mending, commands, (limits, list) => {
      const crowd = new Crowd(limits)
      for (const one of list) {
        crowd.obey(one)
        expect(crowd.gate.inFlight).toBe(crowd.inFlight.length)
        expect(crowd.entered).toBe(crowd.answered + crowd.gate.waiting)
        if (crowd.gate.waiting > 0) expect(crowd.timers.timers.size + crowd.gate.inFlight).toBeGreaterThan(0)
        expect(crowd.timers.timers.size).toBeLessThanOrEqual(1)
      }
    })
    fc.assert(property)
  })

  test('has a reason for what waits, and shows the time at which the next one goes', () => {
    const property = fc.property(mending, commands, (limits, list) => {
      const crowd = new Crowd(limits)
      for (const one of list) {
        crowd.obey(one)
        const { waiting, inFlight, reason, nextAttemptAt } = crowd.gate.view
        expect([waiting, inFlight]).toEqual([crowd.gate.waiting, crowd.gate.inFlight])
        if (waiting > 0) expect(reason).toContain(waiting === 1 ? '; 1 waits' : `; ${waiting} wait`)
        if (nextAttemptAt !== undefined) expect(nextAttemptAt).toBeGreaterThan(crowd.timers.time)
        if (reason === undefined) expect(nextAttemptAt).toBeUndefined()
      }
    })
    fc.assert(property)
  })

  test('answers everybody in the end if the server is well again', () => {
    const property = fc.property(mending, commands, (limits, list) => {
      const crowd = new Crowd(limits)
      for (const one of list) crowd.obey(one)
      for (let turns = 0; turns < 10_000 && crowd.gate.waiting + crowd.gate.inFlight > 0; turns++) {
        if (crowd.inFlight.length > 0) crowd.end(0, { outcome: 'success', tookMs: 10, wish: undefined })
        else crowd.timers.fireNext()
      }
      expect([crowd.gate.waiting, crowd.gate.inFlight]).toEqual([0, 0])
      expect(crowd.answered).toBe(crowd.entered)
    })
    fc.assert(property)
  })
})
