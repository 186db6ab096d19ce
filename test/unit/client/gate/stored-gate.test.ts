import { describe, expect, it } from 'vitest'
import { type GateState, isUnwell, newGateState, settled } from '../../../../src/client/gate/gate-state.ts'
import { mergeGates, restoreGate } from '../../../../src/client/gate/stored-gate.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const { budget: BUDGET } = LIMITS
const NEW = newGateState(LIMITS, START)
const FAILING = new GateModel().times(3, 'failure').state

describe('an origin is unwell', () => {
  it.each<[string, Partial<GateState>, boolean]>([
    ['with fewer tokens than a new client has', { tokens: 1.9 }, true],
    ['after three failures in a row', { failures: 3 }, true],
    ['with a gap between kept operations', { gapMs: 10 }, true],
    ['but not as it begins', {}, false],
    ['but not after two failures', { failures: 2 }, false],
  ])('%s', (_, change, unwell) => {
    expect(isUnwell({ ...NEW, ...change }, BUDGET)).toBe(unwell)
  })

  it('never for its tokens if there is no budget', () => {
    expect(isUnwell({ ...NEW, tokens: 0 }, false)).toBe(false)
    expect(isUnwell(FAILING, false)).toBe(true)
  })
})

describe('a state from a journal', () => {
  it('goes on where it was', () => {
    const stored = JSON.parse(JSON.stringify(FAILING))
    expect(restoreGate(stored, LIMITS, START + 10)).toEqual({ ...FAILING, spacedUntil: START + 10 })
  })

  it('has nothing of what the dead process had under way', () => {
    const busy = { ...NEW, window: 40, calm: 7, probe: START, refused: 9, spaceMs: 200, spacedUntil: START + 9000 }
    const nothing = { window: undefined, calm: 0, probe: undefined, refused: 0, spaceMs: 0, spacedUntil: START + 5 }
    expect(restoreGate(busy, LIMITS, START + 5)).toEqual({ ...NEW, ...nothing })
  })

  it('has no more tokens and credit than a new client', () => {
    expect(restoreGate({ ...NEW, tokens: 9, credit: 90 }, LIMITS, START)).toMatchObject({ tokens: 2, credit: 0 })
    expect(restoreGate({ ...NEW, tokens: 0.5, credit: 0 }, LIMITS, START)).toMatchObject({ tokens: 0.5, credit: 0 })
    const free = { ...LIMITS, budget: false } as const
    expect(restoreGate({ ...NEW, tokens: 9, credit: 90 }, free, START)).toMatchObject({ tokens: 9, credit: 0 })
  })

  it('has no failures if there is no breaker now', () => {
    const without = { ...LIMITS, breaker: false } as const
    expect(restoreGate(FAILING, without, START)).toMatchObject({ failures: 0, failedAt: undefined })
  })

  it('has no silence of the requests that another process sent', () => {
    expect(restoreGate({ ...NEW, failures: 5 }, LIMITS, START)).toMatchObject({ failures: 0, failedAt: undefined })
  })

  it('holds everything for no longer than the longest hold', () => {
    const restored = (nextAt: number): number | undefined => restoreGate({ ...NEW, nextAt }, LIMITS, START)?.nextAt
    expect([restored(START + 3_600_000), restored(START + 700)]).toEqual([START + 10_000, START + 700])
  })

  it.each([undefined, null, 7, 'state', {}, [], { ...NEW, failedAt: 'then' }, { ...NEW, failedAt: null }])(
    'that is none is not taken: %j',
    (stored) => expect(restoreGate(stored, LIMITS, START)).toBeUndefined(),
  )

  it.each([
    'tokens',
    'at',
    'credit',
    'failures',
    'succeededAt',
    'share',
    'pauseMs',
    'probeAt',
    'nextAt',
    'gapMs',
    'keptAt',
    'usualMs',
    'answers',
  ])('is not taken without a number for %s', (name) => {
    for (const value of [undefined, null, '1', Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(restoreGate({ ...NEW, [name]: value }, LIMITS, START)).toBeUndefined()
    }
    expect(restoreGate({ ...NEW, [name]: 1 }, LIMITS, START)).toBeDefined()
  })
})

describe('the state of another tab', () => {
  const later = (change: Partial<GateState>): GateState => ({ ...NEW, at: START + 10, ...change })
  /** A moment later, which brings next to nothing. */
  const NOW = START + 20
  const merged = (mine: GateState, theirs: GateState): GateState =>
    mergeGates(mine, theirs, { limits: LIMITS, now: NOW })

  it('brings the smaller bucket, and never tokens', () => {
    const [poor, rich] = [
      { tokens: 0, credit: 0.5 },
      { tokens: 9, credit: 8 },
    ]
    for (const both of [merged({ ...NEW, ...poor }, later(rich)), merged({ ...NEW, ...rich }, later(poor))]) {
      expect(both.tokens).toBeCloseTo(0)
      expect(both.credit).toBeCloseTo(0.5)
    }
  })

  it('brings a bucket as it is now: the time since I looked is not counted for what others have spent meanwhile', () => {
    const now = START + 10_000
    const both = mergeGates({ ...NEW, tokens: 0 }, { ...NEW, tokens: 0.5, at: now }, { limits: LIMITS, now })
    expect(both).toMatchObject({ tokens: 0.5, at: now })
    expect(settled(both, LIMITS, now).tokens).toBe(0.5)
  })

  it('holds what either holds', () => {
    const held = { keptAt: START + 900, nextAt: START + 800 }
    expect(merged({ ...NEW, ...held }, later({}))).toMatchObject(held)
    expect(merged(NEW, later(held))).toMatchObject(held)
  })

  it('has the gap of kept operations if it is the newer one', () => {
    expect(merged({ ...NEW, gapMs: 100 }, later({ gapMs: 500 })).gapMs).toBe(500)
    expect(merged({ ...NEW, gapMs: 100, at: START + 20 }, later({ gapMs: 500 })).gapMs).toBe(100)
    expect(merged({ ...NEW, gapMs: 100 }, { ...NEW, gapMs: 500 }).gapMs).toBe(100)
  })

  it('makes the origin failing here, with the pause that its probes have', () => {
    const theirs = { ...FAILING, pauseMs: 200, probeAt: START + 300, share: 0.5, probe: START + 100 }
    const { failures, failedAt, triedAt, pauseMs, probeAt, share } = theirs
    expect(merged(NEW, theirs)).toEqual({ ...NEW, at: NOW, failures, failedAt, triedAt, pauseMs, probeAt, share })
  })

  it('is the same trouble as mine: it began with the first failure, and its next probe is the later one', () => {
    const one = {
      ...FAILING,
      failures: 2,
      failedAt: START - 9,
      triedAt: START - 4,
      pauseMs: 50,
      probeAt: START + 20,
      probe: START,
    }
    const other = {
      ...FAILING,
      failures: 30,
      failedAt: START - 5,
      triedAt: START - 3,
      pauseMs: 400,
      probeAt: START + 90,
      probe: START + 7,
    }
    const both = { failures: 30, failedAt: START - 9, triedAt: START - 3, pauseMs: 400, probeAt: START + 90 }
    expect(merged(one, other)).toEqual({ ...one, ...both, at: NOW })
    expect(merged(other, one)).toEqual({ ...other, ...both, at: NOW })
  })

  it('ends failures by a success after them, of either', () => {
    const ended = { failures: 0, failedAt: undefined, pauseMs: 0, probe: undefined, succeededAt: START + 5 }
    const mine = { ...FAILING, probe: START }
    expect(merged(mine, later({ succeededAt: START + 5 }))).toMatchObject(ended)
    expect(merged({ ...NEW, succeededAt: START + 5 }, FAILING)).toMatchObject(ended)
  })

  it('ends no failures by a success before them', () => {
    const before = later({ succeededAt: START - 5 })
    expect(merged(FAILING, before)).toMatchObject({ failures: 3, succeededAt: START - 5 })
    expect(merged(before, FAILING)).toMatchObject({ failures: 3, succeededAt: START - 5 })
    expect(merged({ ...FAILING, succeededAt: START - 5 }, later({}))).toMatchObject({ succeededAt: START - 5 })
  })

  it('ends no silence, nor a failure in the moment of my success, by an older success', () => {
    expect(merged({ ...NEW, failures: 3 }, later({})).failures).toBe(3)
    const mine = { ...NEW, failures: 1, failedAt: START, succeededAt: START }
    expect(merged(mine, later({ succeededAt: START - 5 })).failures).toBe(1)
  })

  it('says nothing of my own requests', () => {
    const mine = { ...NEW, window: 12, calm: 3, usualMs: 40, answers: 9, succeededAt: START }
    expect(merged(mine, later({ window: 2, usualMs: 900, answers: 1 }))).toEqual({ ...mine, at: NOW })
  })
})
