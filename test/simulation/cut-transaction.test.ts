import { expect, it } from 'vitest'
import { Coverage } from '../../src/testing/simulation/coverage.ts'
import { drawPlan } from '../../src/testing/simulation/draw-plan.ts'
import { LedgerServer } from '../../src/testing/simulation/ledger/ledger-server.ts'
import { Oracle } from '../../src/testing/simulation/oracle/oracle.ts'
import type { Plan } from '../../src/testing/simulation/plan.ts'
import { World } from '../../src/testing/simulation/world.ts'

const DRAWN = drawPlan(1)

/** A provider has been asked, and the process ends on its way to the commit. Then the caller asks every 5 seconds. */
const LEDGER: Plan['ledger'] = {
  ...{ work: 'external', records: 'in-transaction', adapter: 'protect', storeIsLike: 'postgres' },
  ...{ reconcile: 'none', provider: 'dedups', replicas: 1, restartAfterMs: 0, leaseMs: 20_000, inFlight: 'reject' },
  reapEveryMs: 3_600_000,
  crashes: [{ point: 'ledger:committing', occurrence: 1 }],
  ...{ freezes: [], starvations: [], cutOffs: [] },
  strangers: [{ at: 0, copies: 0, withinMs: 0, patienceMs: 5000 }],
}

it('lets a claim be abandoned that keeps the token of one whose process ended in its transaction', async () => {
  const plan: Plan = { ...DRAWN, server: 'ledger', faults: new Set(), calls: [], acts: [], ledger: LEDGER }
  const coverage = new Coverage()
  const oracle: Oracle = new Oracle({ plan, coverage, now: () => world.timeline.now, runDeadlineMs: 30_000 })
  const world: World = new World(plan, { coverage, oracle })
  const server = new LedgerServer(world)
  // Later than the lease of an effect.
  await world.timeline.run(150_000)
  expect(coverage.counts.observation['outcome-unknown answer']).toBeGreaterThan(0)
  expect(coverage.counts.observation['entry abandoned']).toBe(1)
  await server.judgeEnd()
  expect(oracle.broken).toEqual([])
})
