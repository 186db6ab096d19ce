import { describe, expect, it } from 'vitest'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import { outage } from '../scenario.ts'
import { GROUP_NAMES, type SituationGroup, situationGroups } from './situation-groups.ts'
import { type SituationRow, situationRows } from './situation-rows.ts'
import { failingShare, fleetSituation } from './situations.ts'

const SILENT = { seed: 1, tell: () => {} }
const SMALL = { clients: 10, operationsPerSecond: 100 }

function groupOf(name: string): SituationGroup {
  const group = situationGroups([100]).find((candidate) => candidate.name === name)
  if (!group) throw new Error(`There is no ${name}`)
  // Where all fails no client has more success than another.
  const situations = group.situations.filter((situation) => !situation.name.endsWith('all fail'))
  return { ...group, situations, contenders: group.contenders.filter(({ role }) => role !== 'candidate') }
}

function rowsOf(group: SituationGroup): SituationRow[] {
  return group.situations.flatMap((situation) => situationRows(group, situation, SILENT))
}

describe('the situations', () => {
  it('are those that can be asked for', () => {
    expect(situationGroups([100]).map(({ name }) => name)).toEqual(GROUP_NAMES)
  })

  it('each have one Holdfast as it comes, and clients that can be told apart', () => {
    for (const { contenders, name } of situationGroups([100])) {
      expect(contenders.filter(({ role }) => role === 'default').map(({ policy }) => policy.name)).toEqual(['Holdfast'])
      expect(new Set(contenders.map(({ policy }) => policy.name)).size, name).toBe(contenders.length)
    }
  })

  it('come to the shares that anyone can compute', () => {
    const half = failingShare({ name: 'half', rate: 0.5, clients: 1, operationsPerSecond: 200, lastsMs: 20_000 })
    expect(half.run(peer('fetch'), 1).success).toBeCloseTo(0.5, 1)
    expect(half.run(peer('ofetch'), 1)).toMatchObject({
      requests: expect.closeTo(1.5, 1),
      success: expect.closeTo(0.75, 1),
    })
  })

  it('tell of an outage what it leaves behind', () => {
    const situation = fleetSituation({ name: 'outage', scenario: outage({ ...SMALL, observedMs: 10_000 }) })
    const { requests, success, aftermath } = situation.run(peer('fetch'), 1)
    expect(requests).toBeCloseTo(1, 2)
    expect(success).toBeCloseTo(0.25, 1)
    expect(aftermath).toMatchObject({ requestsInOutage: expect.closeTo(1, 2), answeredAfter: 1, answersAfterMs: 0 })
    const storm = situation.run(peer('fetchRetry'), 1)
    expect(storm.aftermath?.answersAfterMs).toBeUndefined()
  })
})

describe('no peer has both more success and fewer requests than Holdfast', () => {
  it('where a share of all fails at random', () => {
    const better = rowsOf({ ...groupOf('shares-20'), runs: 3 }).filter(({ isBetter }) => isBetter)
    expect(better).toEqual([])
  })

  it('where clients have a single operation', () => {
    expect(rowsOf(groupOf('single')).filter(({ isBetter }) => isBetter)).toEqual([])
  })
})

describe('the marks', () => {
  const [first, second] = [peer('ofetch'), peer('fetch')]
  const rows = (run: (name: string) => { requests: number; success: number }): SituationRow[] => {
    const contenders = [
      { role: 'default', policy: holdfastPolicy('Holdfast') },
      { role: 'peer', policy: first },
      { role: 'candidate', policy: second },
    ] as const
    const group = { name: 'half', title: '', situations: [], contenders, runs: 2 } as const
    return situationRows(group, { name: 'one', run: ({ name }) => run(name) }, SILENT)
  }

  it('say who beats Holdfast and who is on the front, for which no candidate counts', () => {
    const found = rows((name) => {
      if (name === 'Holdfast') return { requests: 2, success: 0.5 }
      return name === first.name ? { requests: 1.5, success: 0.6 } : { requests: 1, success: 0.9 }
    })
    expect(found.map(({ isBetter, isOnFront }) => [isBetter, isOnFront])).toEqual([
      [false, false],
      [true, true],
      [true, false],
    ])
  })
})

describe('processes that crash in an outage', () => {
  const scenario = outage({ ...SMALL, observedMs: 10_000 })
  const { downFrom: from, downUntil: until } = scenario.server
  const crashing = fleetSituation({ name: 'crashes', scenario, restarts: { everyMs: 2000, from, until } })

  it('send less where the next one finds what was known', () => {
    const restored = crashing.run(holdfastPolicy('restored'), 1).requests
    expect(restored).toBeLessThan(0.9 * crashing.run(holdfastPolicy('forgotten', { state: 'forgotten' }), 1).requests)
  })

  it('find what they kept in either case', () => {
    for (const state of ['restored', 'forgotten'] as const) {
      const done = (onGiveUp: 'keep' | 'fail'): number =>
        crashing.run(holdfastPolicy(state, { state, onGiveUp }), 1).aftermath?.doneInOutage ?? 0
      expect(done('keep')).toBeGreaterThan(done('fail') + 0.1)
    }
  })
})
