import { describe, expect, it } from 'vitest'
import { Coverage } from '../../src/testing/simulation/coverage.ts'
import { drawPlan } from '../../src/testing/simulation/draw-plan.ts'
import { runHistory } from '../../src/testing/simulation/history.ts'
import { reportText } from '../../src/testing/simulation/report-text.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { MUTATIONS } from './mutations.ts'

/** From here on every fault, crash point, state and transition is met soon; where it no longer is, the run goes on. */
const FIRST_SEED = 2500
const BLOCK = 100
const FEWEST = 1000
const MOST = 10_000

describe('many histories', () => {
  it('break no promise, and meet every fault and every crash point', { timeout: 900_000 }, async () => {
    const coverage = new Coverage()
    let histories = 0
    while (histories < FEWEST || (histories < MOST && coverage.missing().length > 0)) {
      const report = await simulate({ seed: FIRST_SEED + histories, histories: BLOCK })
      expect(report.failed, reportText(report)).toEqual([])
      expect(report.histories).toBe(BLOCK)
      coverage.add(report.coverage)
      histories += BLOCK
    }
    expect(coverage.missing(), `in ${histories} histories`).toEqual([])
  })

  it('break none where known faults would', async () => {
    for (const { from } of MUTATIONS) expect((await runHistory(from)).broken, `seed ${from}`).toEqual([])
  })
})

/** The first seeds whose server is the real ledger. */
function ledgerSeeds(count: number): number[] {
  const seeds = Array.from({ length: 100 }, (_, n) => n + 1)
  return seeds.filter((seed) => drawPlan(seed).server === 'ledger').slice(0, count)
}

describe('a history', () => {
  it('is the same for the same seed, down to the last line', async () => {
    for (const seed of [3, 17, 'a word', ...ledgerSeeds(5)]) {
      const [once, again] = [await runHistory(seed, { traced: true }), await runHistory(seed, { traced: true })]
      expect(once.lines.length).toBeGreaterThan(3)
      expect(again).toEqual(once)
    }
  })

  it('is the same whether somebody listens or not', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { lines: _, coverage: _seen, ...heard } = await runHistory(seed, { traced: true })
      expect(await runHistory(seed)).toMatchObject({ ...heard })
    }
  })

  it('leaves everything else as it was where a fault is left out that never struck', async () => {
    const whole = await runHistory(12, { traced: true })
    const never = ['crash', 'outage', 'freeze', 'declined', 'disk-full'].filter(
      (fault) => !whole.faults.includes(fault),
    )
    expect(never.length).toBeGreaterThan(0)
    expect((await runHistory(12, { traced: true, without: new Set(never) })).lines).toEqual(whole.lines)
  })

  it('has no fault that was left out', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { coverage } = await runHistory(seed, { without: new Set(['crash', 'power-cut', 'close', 'ledger-crash']) })
      expect(coverage.fault.crash ?? 0).toBe(0)
      expect(Object.keys(coverage['crash point'])).toEqual([])
    }
  })
})

describe('a run of the simulation', () => {
  it('tells how far it has come', async () => {
    const told: number[] = []
    const report = await simulate({ seed: 5, histories: 30, onProgress: ({ histories }) => told.push(histories) })
    expect(told.at(-1)).toBe(30)
    expect(report.requests).toBeGreaterThan(30)
    expect(report.retries).toBeLessThan(report.requests)
  })

  it('ends when its time is over', async () => {
    const report = await simulate({ seed: 1, histories: 1_000_000, minutes: 0.002 })
    expect(report.histories).toBeLessThan(10_000)
  })
})
