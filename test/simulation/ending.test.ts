import { describe, expect, it } from 'vitest'
import { Coverage } from '../../src/testing/simulation/coverage.ts'
import { drawPlan } from '../../src/testing/simulation/draw-plan.ts'
import { Ending } from '../../src/testing/simulation/ending.ts'
import { LedgerServer } from '../../src/testing/simulation/ledger/ledger-server.ts'
import { Oracle } from '../../src/testing/simulation/oracle/oracle.ts'
import type { Plan } from '../../src/testing/simulation/plan.ts'
import type { SimulatedDisk } from '../../src/testing/simulation/simulated-disk.ts'
import type { Slots } from '../../src/testing/simulation/slots.ts'
import { World } from '../../src/testing/simulation/world.ts'

const DRAWN = drawPlan(1)

/** A world without calls, in front of the real ledger. */
function ledgerWorld(freezes: Plan['ledger']['freezes'] = []): {
  readonly world: World
  readonly server: LedgerServer
} {
  const ledger: Plan['ledger'] = {
    ...{ ...DRAWN.ledger, replicas: 1, restartAfterMs: 0, freezes, crashes: [] },
    ...{ starvations: [], cutOffs: [], strangers: [] },
  }
  const plan: Plan = { ...DRAWN, server: 'ledger', faults: new Set(), calls: [], acts: [], ledger }
  const coverage = new Coverage()
  const oracle: Oracle = new Oracle({ plan, coverage, now: () => world.timeline.now, runDeadlineMs: 30_000 })
  const world: World = new World(plan, { coverage, oracle })
  return { world, server: new LedgerServer(world) }
}

/** When a history is over that is to end at 10 s. */
async function endOf({ world, server }: ReturnType<typeof ledgerWorld>): Promise<number> {
  const slots = { thawedAt: 0, caretaker: () => ({}) } as unknown as Slots
  const disk = { idle: true } as SimulatedDisk
  await world.timeline.run(10_000)
  await new Ending(world, { slots, disk, server }).come()
  return world.timeline.now
}

describe('the end of a history', () => {
  it('leaves a server that is away as much time after its return as any other', async () => {
    const usual = (await endOf(ledgerWorld())) - 10_000
    const away = ledgerWorld()
    away.server.stopFor(180_000)
    expect(await endOf(away)).toBe(180_000 + usual)
  })

  it('leaves a server that stands still as much time, too', async () => {
    const usual = (await endOf(ledgerWorld())) - 10_000
    const frozen = ledgerWorld([{ at: 9000, replica: 0, ms: 70_000 }])
    expect(await endOf(frozen)).toBe(79_000 + usual)
  })
})
