import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  askLeave,
  type Containment,
  type ContainmentLimits,
  learnOutcome,
  newContainment,
  phaseOf,
  type RequestKind,
} from '../../src/client/policy/containment.ts'
import { restoreContainment } from '../../src/client/policy/containment-level.ts'

const limits: fc.Arbitrary<ContainmentLimits> = fc.record({
  budget: fc.record({ ratio: fc.double({ min: 0, max: 3, noNaN: true }), burst: fc.integer({ min: 0, max: 20 }) }),
  openForMs: fc.integer({ min: 10, max: 5000 }),
})

const step = fc.record({
  elapsed: fc.integer({ min: -50, max: 3000 }),
  kind: fc.constantFrom<RequestKind>('call', 'call', 'retry', 'kept'),
  outcome: fc.constantFrom('success' as const, 'failure' as const, 'failure' as const, 'ignored' as const),
  tookMs: fc.integer({ min: 1, max: 2000 }),
  dice: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
})

interface Taken {
  readonly before: Containment
  readonly after: Containment
  readonly kind: RequestKind
  readonly given: boolean
  readonly outcome: 'success' | 'failure' | 'ignored'
  readonly probe: number | undefined
  readonly now: number
}

/** One request at a time, each with its end. */
function histories(check: (given: ContainmentLimits, taken: readonly Taken[]) => void): void {
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 150, size: 'max' }), (given, steps) => {
      let now = 1_750_000_000_000
      let state = newContainment(given, now)
      const taken: Taken[] = []
      for (const { elapsed, kind, outcome, tookMs, dice } of steps) {
        now += elapsed
        const before = state
        const leave = askLeave(before, given, { now, kind, random: () => dice })
        const ended = { now, kind, outcome, tookMs, probe: leave.probe, random: () => dice }
        state = leave.given ? learnOutcome(leave.state, given, ended) : leave.state
        taken.push({ before, after: state, kind, given: leave.given, outcome, probe: leave.probe, now })
      }
      check(given, taken)
    }),
  )
}

describe('containment', () => {
  test('keeps its level between dead and the burst, and all its numbers finite', () => {
    histories(({ budget }, taken) => {
      for (const { after } of taken) {
        expect(after.level).toBeGreaterThanOrEqual(-6)
        expect(after.level).toBeLessThanOrEqual(Math.max(1, budget ? budget.burst : 0))
        expect(Object.values(after).every((value) => value === undefined || Number.isFinite(value))).toBe(true)
      }
    })
  })

  test('never opens or closes but by a failure or by the success of the probe', () => {
    histories((_given, taken) => {
      for (const { before, after, given, outcome, probe } of taken) {
        const opened = before.openUntil === undefined && after.openUntil !== undefined
        const closed = before.openUntil !== undefined && after.openUntil === undefined
        if (opened) expect(given && outcome === 'failure').toBe(true)
        if (closed) expect(given && outcome === 'success' && probe !== undefined).toBe(true)
      }
    })
  })

  test('lets a call go whenever the breaker is closed', () => {
    histories((_given, taken) => {
      for (const { before, kind, given, now } of taken) {
        if (kind === 'call' && phaseOf(before, now) === 'closed') expect(given).toBe(true)
      }
    })
  })

  test('goes on after a restart as if there had been none', () => {
    histories((given, taken) => {
      for (const { after, now } of taken) {
        const restored = restoreContainment(JSON.parse(JSON.stringify(after)), given, now)
        expect({ ...restored, probe: undefined, openUntil: restored.openUntil }).toEqual({ ...after, probe: undefined })
      }
    })
  })

  test('spends no more on failing retries than the burst and what successes paid', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.boolean(), { maxLength: 300, size: 'max' }), (given, results) => {
        const { ratio, burst } = given.budget || { ratio: 0, burst: 0 }
        let state = newContainment(given, 0)
        let failedRetries = 0
        let successes = 0
        for (const isSuccess of results) {
          const leave = askLeave(state, given, { now: 0, kind: 'retry', random: () => 0.5 })
          const outcome = isSuccess ? 'success' : 'failure'
          const kind = leave.given ? 'retry' : 'call'
          if (isSuccess) successes++
          else if (leave.given) failedRetries++
          state = learnOutcome(leave.state, given, { now: 0, kind, outcome, tookMs: 1, random: () => 0.5 })
        }
        // A success lifts the level from dead to -1 as well: that is no credit, a retry needs 0.
        expect(failedRetries).toBeLessThanOrEqual(Math.min(1, burst) + 1 + ratio * successes + 1e-6)
      }),
    )
  })
})
