import { expect, it } from 'vitest'
import type { GateLimits } from '../../../../src/client/gate/gate-limits.ts'
import { seededRandom } from '../../../../src/testing/seeded-random.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

it.each<[string, GateLimits]>([
  ['of a new client', LIMITS],
  ['with ceilings', { ...LIMITS, concurrency: 15, perSecond: 5 }],
  ['without a breaker', { ...LIMITS, breaker: false }],
  ['without a budget', { ...LIMITS, budget: false }],
  [
    'with a budget that only successes fill',
    { ...LIMITS, budget: { ratio: 1, burst: 3, reservePerSecond: 0, rest: 3 } },
  ],
])(
  'at the gate %s, who has to wait never has to ask again at once, and the state stays one of numbers',
  (_, limits) => {
    const random = seededRandom(1)
    const model = new GateModel(limits)
    for (let step = 0; step < 3000; step++) {
      model.pass(random() * 400)
      const kind = (['call', 'retry', 'kept'] as const)[Math.floor(random() * 3)] ?? 'call'
      const inPhase = Math.floor(random() * 20)
      const unanswered = { count: inPhase, since: model.now - random() * 600 }
      const answer = model.ask(kind, { random, inPhase, unanswered, spreadUntil: model.now })
      if (answer.is === 'waits') expect(answer.until).toBeGreaterThan(model.now)
      const outcome = random() < 0.3 ? 'success' : 'failure'
      if (answer.is === 'sent' && random() < 0.9) model.end(outcome, { kind, probe: answer.probe, random })
      const values = Object.values(model.state)
      expect(values.filter((value) => value !== undefined && !Number.isFinite(value))).toEqual([])
    }
  },
)

it.each([1, 2, 3])('retries stay within burst, ratio x successes and the reserve, whatever happens (%i)', (seed) => {
  const random = seededRandom(seed)
  const model = new GateModel()
  let retries = 0
  let successes = 0
  for (let step = 0; step < 5000; step++) {
    model.pass(random() * 200)
    const kind = random() < 0.7 ? 'retry' : 'call'
    const answer = model.ask(kind, { random })
    if (answer.is !== 'sent') continue
    const isSuccess = random() < 0.3
    model.end(isSuccess ? 'success' : 'failure', { kind, probe: answer.probe, random })
    retries += kind === 'retry' ? 1 : 0
    expect(retries).toBeLessThanOrEqual(10 + 1.1 * successes + (0.1 * (model.now - START)) / 1000)
    successes += isSuccess ? 1 : 0
  }
  expect(retries).toBeGreaterThan(100)
})
