import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admit, breakerPhase, closedBreaker, record } from '../../src/client/policy/breaker.ts'

const options = fc.record({
  failureRate: fc.double({ min: 0.01, max: 1, noNaN: true }),
  minimumRequests: fc.integer({ min: 1, max: 10 }),
  windowMs: fc.integer({ min: 10, max: 10_000 }),
  openForMs: fc.integer({ min: 10, max: 5_000 }),
  probes: fc.integer({ min: 1, max: 4 }),
})

const step = fc.record({
  elapsed: fc.integer({ min: 0, max: 1_500 }),
  /** Which of the requests under way ends, and how; before that, one asks to go out. */
  ends: fc.nat(5),
  outcome: fc.constantFrom(
    'success' as const,
    'failure' as const,
    'failure' as const,
    'ignored' as const,
    'silent' as const,
  ),
})

describe('a breaker', () => {
  test('never has more than `probes` admitted while it is half open', () => {
    fc.assert(
      fc.property(options, fc.array(step, { maxLength: 200, size: 'max' }), (config, steps) => {
        let state = closedBreaker()
        let now = 1_750_000_000_000
        let probes: number[] = []
        const underWay: (number | undefined)[] = []
        for (const { elapsed, ends, outcome } of steps) {
          now += elapsed
          const answer = admit(state, config, now)
          state = answer.state
          if (answer.admitted) underWay.push(answer.probe)
          if (answer.probe !== undefined) probes.push(answer.probe)
          const holding = probes.filter((startedAt) => now - startedAt < config.openForMs)
          expect(holding.length).toBeLessThanOrEqual(config.probes)
          if (outcome === 'silent' || underWay.length === 0) continue
          // Any of the requests under way may be the next to end.
          const [probe] = underWay.splice(ends % underWay.length, 1)
          const before = state
          state = record(state, config, { now, outcome, probe })
          if (before.phase === 'half-open' && probe === undefined) expect(state).toBe(before)
          if (outcome === 'ignored') probes = probes.filter((startedAt) => startedAt !== probe)
          if (state.phase !== 'half-open') probes = []
        }
      }),
    )
  })

  test('never wedges: a refusal names a time at which it admits', () => {
    fc.assert(
      fc.property(options, fc.array(step, { maxLength: 200, size: 'max' }), (config, steps) => {
        let state = closedBreaker()
        let now = 1_750_000_000_000
        for (const { elapsed, ends, outcome } of steps) {
          // The clock is set back now and then.
          now += ends === 5 ? -elapsed : elapsed
          const answer = admit(state, config, now)
          if (!answer.admitted) {
            expect(breakerPhase(answer.state, config, now)).not.toBe('closed')
            const retryAt = answer.retryAt ?? Number.NaN
            expect(retryAt).toBeGreaterThan(now)
            expect(retryAt).toBeLessThanOrEqual(now + 2 * config.openForMs)
            expect(admit(answer.state, config, retryAt).admitted).toBe(true)
          }
          state = answer.state
          if (answer.admitted && outcome !== 'silent')
            state = record(state, config, { now, outcome, probe: answer.probe })
        }
      }),
    )
  })

  test('opens exactly when the requests of the last window say so', () => {
    fc.assert(
      fc.property(options, fc.array(step, { maxLength: 100, size: 'max' }), (config, steps) => {
        const slice = config.windowMs / 10
        let state = closedBreaker()
        let now = 1_750_000_000_000
        const past: { slot: number; failed: boolean }[] = []
        for (const { elapsed, outcome } of steps) {
          if (outcome !== 'success' && outcome !== 'failure') continue
          now += elapsed
          const slot = Math.floor(now / slice)
          past.push({ slot, failed: outcome === 'failure' })
          const inside = past.filter((entry) => slot - entry.slot < 10)
          const failures = inside.filter((entry) => entry.failed).length
          const expected =
            inside.length >= config.minimumRequests && failures > 0 && failures >= config.failureRate * inside.length
          state = record(state, config, { now, outcome })
          expect(state.phase).toBe(expected ? 'open' : 'closed')
          if (expected) break
        }
      }),
    )
  })
})
