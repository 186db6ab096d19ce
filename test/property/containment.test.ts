import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  acquirePermit,
  type BudgetLimits,
  type Containment,
  type ContainmentLimits,
  keptUntil,
  newContainment,
  payForRetry,
  type RequestKind,
  type RequestOutcome,
  recordOutcome,
} from '../../src/client/policy/containment.ts'
import { phaseOf, restoreContainment } from '../../src/client/policy/containment-level.ts'

const budgets: fc.Arbitrary<BudgetLimits> = fc
  .record({
    ratio: fc.double({ min: 0, max: 3, noNaN: true }),
    burst: fc.integer({ min: 0, max: 20 }),
    reservePerSecond: fc.constantFrom(0, 0.1, 2),
    isSet: fc.boolean(),
  })
  .map(({ isSet, ...limits }) => ({ ...limits, rest: isSet ? limits.burst : Math.min(1, limits.burst) }))

interface Limits extends ContainmentLimits {
  readonly budget: BudgetLimits
}

const limits: fc.Arbitrary<Limits> = fc.record({
  budget: budgets,
  breaker: fc.record({
    minimumRequests: fc.integer({ min: 1, max: 20 }),
    openForMs: fc.integer({ min: 10, max: 5000 }),
  }),
})

const step = fc.record({
  elapsed: fc.integer({ min: 0, max: 3000 }),
  kind: fc.constantFrom<RequestKind>('call', 'call', 'retry', 'kept'),
  outcome: fc.constantFrom<RequestOutcome>('success', 'failure', 'failure', 'overload', 'ignored'),
  tookMs: fc.integer({ min: 1, max: 2000 }),
  dice: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
})

/** One of a hundred steps sets the clock back. */
const jumpingStep = fc
  .tuple(step, fc.integer({ min: 0, max: 99 }))
  .map(([one, chance]) => (chance === 0 ? { ...one, elapsed: -one.elapsed * 1000 } : one))

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

interface Taken extends Step {
  readonly before: Containment
  readonly after: Containment
  readonly given: boolean
  readonly probe: number | undefined
  readonly now: number
}

/** One request at a time, each with its end. A retry that cannot be paid for is not sent. */
function historyOf(given: ContainmentLimits, steps: readonly Step[]): Taken[] {
  let now = 1_750_000_000_000
  let state = newContainment(given, now)
  return steps.map((one) => {
    now += one.elapsed
    const before = state
    const random = (): number => one.dice
    const paid = one.kind === 'retry' ? payForRetry(before, given, now) : before
    const leave = paid && acquirePermit(paid, given, { now, kind: one.kind, random })
    const ended = { ...one, now, random, probe: leave?.probe }
    state = leave?.given ? recordOutcome(leave.state, given, ended) : (leave?.state ?? before)
    return { ...one, before, after: state, given: leave?.given ?? false, probe: leave?.probe, now }
  })
}

function histories(check: (given: Limits, taken: readonly Taken[]) => void, steps: fc.Arbitrary<Step> = jumpingStep) {
  const property = fc.property(limits, fc.array(steps, { maxLength: 150, size: 'max' }), (given, list) =>
    check(given, historyOf(given, list)),
  )
  fc.assert(property)
}

describe('containment', () => {
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

  test('never opens but by a failure, nor closes but by what its probe found', () => {
    histories((_given, taken) => {
      for (const { before, after, given, outcome, probe } of taken) {
        const opened = before.openUntil === undefined && after.openUntil !== undefined
        const closed = before.openUntil !== undefined && after.openUntil === undefined
        const isAlive = outcome === 'success' || outcome === 'overload'
        if (opened) expect(given && outcome === 'failure').toBe(true)
        if (closed) expect(given && isAlive && probe !== undefined).toBe(true)
      }
    })
  })

  test('is not closed by a request that was sent before it opened', () => {
    histories((given, taken) => {
      for (const { after, now } of taken) {
        const late = { now, kind: 'call', outcome: 'success', tookMs: 1, random: () => 0.5 } as const
        expect(phaseOf(recordOutcome(after, given, late))).toBe(phaseOf(after))
      }
    })
  })

  test('lets a call go whenever the breaker is closed, and nothing while it is open', () => {
    histories((_given, taken) => {
      for (const { before, kind, given, now } of taken) {
        if (kind === 'call' && phaseOf(before) === 'closed') expect(given).toBe(true)
        if (phaseOf(before) === 'open' && now < (before.openUntil ?? 0)) expect(given).toBe(false)
      }
    }, step)
  })

  test('lets a kept operation go at the time that it was told: when gap, token and breaker allow it', () => {
    histories((given, taken) => {
      for (const { after, now } of taken) {
        const told = [now]
        for (let until = keptUntil(after, given, now); until !== undefined && until < 1e15; ) {
          told.push(until)
          until = keptUntil(after, given, until)
        }
        expect(told.length).toBeLessThanOrEqual(4)
      }
    }, step)
  })

  test('goes on after a restart as if there had been none, with no more tokens than a new one', () => {
    histories((given, taken) => {
      for (const { after } of taken) {
        const restored = restoreContainment(JSON.parse(JSON.stringify(after)), given)
        const tokens = Math.min(after.tokens, given.budget.rest)
        expect({ ...restored, probe: undefined }).toEqual({ ...after, tokens, probe: undefined })
      }
    })
  })

  test('spends on what fails no more than rest, what successes paid and the reserve', () => {
    histories(({ budget }, taken) => {
      const { ratio, rest, reservePerSecond } = budget
      const failed = taken.filter(({ kind, given, outcome }) => kind !== 'call' && given && outcome === 'failure')
      const successes = taken.filter(({ given, outcome }) => given && outcome === 'success')
      const probes = successes.filter(({ probe }) => probe !== undefined)
      const seconds = ((taken.at(-1)?.now ?? 0) - (taken[0]?.now ?? 0) + (taken[0]?.elapsed ?? 0)) / 1000
      // A client whose probe came through stands where a new one does.
      const paid = ratio * (successes.length - probes.length) + Math.max(ratio, rest) * probes.length
      expect(failed.length).toBeLessThanOrEqual(rest + paid + reservePerSecond * seconds + 1e-6)
    }, step)
  })
})
