import { describe, expect, test } from 'vitest'
import { type GateState, newGateState } from '../../../../src/client/gate/gate-state.ts'
import {
  type BudgetOptions,
  createRetryBudget,
  isRetryBudget,
  OriginStates,
} from '../../../../src/client/gate/retry-budget.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'

const A = 'https://a.example'
const B = 'https://b.example'

function statesOf(options?: BudgetOptions): OriginStates {
  return createRetryBudget(options) as OriginStates
}

/** Puts so many tokens into an origin's bucket. */
function fill(states: OriginStates, tokens: number, now = 0): void {
  const { limits } = states
  states.set(A, { ...newGateState({ budget: limits, breaker: false }, now), tokens })
}

describe('createRetryBudget', () => {
  test('has two retries where nothing is said of a burst', () => {
    const budget = createRetryBudget()
    expect(budget.level(A, 0)).toBe(2)
    expect(createRetryBudget({ ratio: 0.1, burst: undefined }).level(A, 0)).toBe(2)
  })

  test('starts full where a burst is set', () => {
    expect(createRetryBudget({ burst: 10 }).level(A, 0)).toBe(10)
    expect(createRetryBudget({ burst: 0 }).level(A, 0)).toBe(0)
  })

  test('fills in what is left out, and freezes it', () => {
    const { limits } = statesOf({ ratio: 0.2 })
    expect(limits).toEqual({ ratio: 0.2, burst: 10, reservePerSecond: 0.1, rest: 2 })
    expect(Object.isFrozen(limits)).toBe(true)
  })

  test.each<BudgetOptions>([
    {},
    { ratio: 0, burst: 0, reservePerSecond: 0 },
    { ratio: 0.5, burst: 1.5, reservePerSecond: 0.01 },
    { ratio: 1_000_000, burst: 1_000_000, reservePerSecond: 1_000_000 },
  ])('takes %j', (options) => {
    expect(() => createRetryBudget(options)).not.toThrow()
  })

  test.each(['ratio', 'burst', 'reservePerSecond'])('takes for %s nothing but an amount', (name) => {
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001, '1', null]) {
      expect(() => createRetryBudget({ [name]: value })).toThrow(
        `The option \`budget.${name}\` must be a number from 0 to 1000000; it was given `,
      )
    }
  })

  test('refuses a name that it does not know, and what is no object', () => {
    expect(() => createRetryBudget({ brust: 3 } as BudgetOptions)).toThrow('Did you mean `budget.burst`?')
    expect(() => createRetryBudget(3 as BudgetOptions)).toThrow(ConfigurationError)
  })
})

describe('the level', () => {
  test('comes back to what a new client has with time, from below and from above', () => {
    const states = statesOf({ reservePerSecond: 0.5 })
    fill(states, 0)
    expect([states.level(A, 0), states.level(A, 1000), states.level(A, 10_000)]).toEqual([0, 0.5, 2])
    fill(states, 3)
    expect([states.level(A, 0), states.level(A, 1000), states.level(A, 10_000)]).toEqual([3, 2.5, 2])
  })

  test('is not changed by looking at it', () => {
    const states = statesOf()
    fill(states, 0.5)
    states.level(A, 5000)
    expect(states.get(A)).toMatchObject({ tokens: 0.5, at: 0 })
  })

  test("of one origin says nothing of another's", () => {
    const states = statesOf({ burst: 5 })
    fill(states, 0)
    expect([states.level(A, 0), states.level(B, 0)]).toEqual([0, 5])
  })

  test('has no end where there are no limits', () => {
    expect(new OriginStates(false).level(A, 0)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a budget', () => {
  test('is known as one, also where another copy of the package made it', () => {
    expect(isRetryBudget(createRetryBudget())).toBe(true)
    expect(isRetryBudget({ [Symbol.for('holdfast.retry-budget')]: true })).toBe(true)
    for (const other of [undefined, null, false, 3, {}, { level: () => 1 }]) expect(isRetryBudget(other)).toBe(false)
  })

  test('shows nobody its brand', () => {
    expect(Object.keys(createRetryBudget())).toEqual(['limits'])
  })

  const newState = (states: OriginStates): GateState => newGateState({ budget: states.limits, breaker: false }, 0)
  const named = (index: number | string): string => `https://${index}.example`
  const add = (states: OriginStates, count: number, state: GateState): void => {
    const known = [...states.entries()].length
    for (let index = known; index < known + count; index++) states.set(named(index), state)
  }

  test('remembers a thousand origins that are well, and forgets the oldest of them first', () => {
    const states = statesOf()
    const state = newState(states)
    add(states, 1001, state)
    expect([...states.entries()]).toHaveLength(1000)
    expect([0, 1].map((index) => states.get(named(index)))).toEqual([undefined, state])
    states.set(named(1), state)
    expect([...states.entries()]).toHaveLength(1000)
    states.set(named('new'), state)
    expect([named(1), named('new')].map((origin) => states.get(origin))).toEqual([undefined, state])
  })

  test('forgets no origin that is unwell for one that is well', () => {
    const states = statesOf()
    const state = newState(states)
    add(states, 1200, { ...state, tokens: 0 })
    expect([...states.entries()]).toHaveLength(1200)
    states.set(named('well'), state)
    states.set(named('unwell'), { ...state, gapMs: 100 })
    expect(states.get(named('well'))).toBeUndefined()
    expect([...states.entries()]).toHaveLength(1201)
  })

  test('tells all gates of an origin what it is told', () => {
    const states = statesOf()
    const state = newState(states)
    const place = states.store(A, () => state)
    expect([place, states.store(A, () => ({ ...state }))]).toEqual([{ state }, place])
    const poor = { ...state, tokens: 0 }
    states.set(A, poor)
    expect([place.state, states.get(A)]).toEqual([poor, poor])
  })

  test('forgets what it was told last for nobody', () => {
    const states = statesOf()
    add(states, 1000, { ...newState(states), tokens: 0 })
    states.set(named('well'), newState(states))
    expect(states.get(named('well'))).toBeDefined()
  })
})
