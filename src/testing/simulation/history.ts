import { memoryJournal } from '../../client/journal/memory/memory-journal.ts'
import type { Journal } from '../../client/journal/port.ts'
import { type Clock, sleepOn } from '../../foundation/clock.ts'
import { ApiServer, type SimulatedApi } from './api-server.ts'
import { Coverage, type CoverageCounts } from './coverage.ts'
import { drawPlan } from './draw-plan.ts'
import { Ending } from './ending.ts'
import { LedgerServer } from './ledger/ledger-server.ts'
import { ModelServer } from './model-server.ts'
import type { BrokenPromise } from './oracle/facts.ts'
import { judgeEnd } from './oracle/final-rules.ts'
import { Oracle } from './oracle/oracle.ts'
import { type Act, BEGINNING, type Plan, RUN_DEADLINE_MS } from './plan.ts'
import { SimulatedBrowser } from './simulated-browser.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { SimulatedNetwork } from './simulated-network.ts'
import { Slots } from './slots.ts'
import { WrittenTrace } from './trace.ts'
import type { Fault } from './vocabulary.ts'
import type { WireServer } from './wire.ts'
import { World } from './world.ts'

export interface HistoryOptions {
  /** Faults that are left out, by name: what remains happens as before. */
  readonly without?: ReadonlySet<string> | undefined
  readonly traced?: boolean | undefined
  /** A journal of one's own; it begins empty. */
  readonly journal?: (() => Journal | Promise<Journal>) | undefined
  /** A server of one's own; it is given the right time. */
  readonly api?: ((clock: Clock) => SimulatedApi | Promise<SimulatedApi>) | undefined
}

/** One history, from its seed to its judgement. */
export interface History {
  readonly seed: number | string
  readonly broken: readonly BrokenPromise[]
  readonly faults: readonly string[]
  readonly coverage: CoverageCounts
  readonly happenings: number
  readonly requests: number
  /** Requests that were not the first of their operation. */
  readonly retries: number
  readonly operations: number
  readonly lines: readonly string[]
}

/** Lets one history happen: the same seed is the same history. */
export async function runHistory(seed: number | string, options: HistoryOptions = {}): Promise<History> {
  const drawn = drawPlan(seed, options.without)
  const plan: Plan = options.api && drawn.server === 'ledger' ? { ...drawn, server: 'honours-keys' } : drawn
  const coverage = new Coverage()
  const trace = options.traced ? new WrittenTrace() : undefined
  const now = (): number => world.timeline.now
  const oracle = new Oracle({ plan, coverage, now, runDeadlineMs: RUN_DEADLINE_MS })
  const world: World = new World(plan, { coverage, oracle, trace })
  const store = (await options.journal?.()) ?? memoryJournal()
  await store.open()
  try {
    await happen(world, store, await serverOf(world, options))
  } finally {
    await store.close()
  }
  for (const { promise, sentence, at } of oracle.broken) trace?.say(at, 'BROKEN', `${promise}: ${sentence}`)
  return {
    seed,
    broken: oracle.broken,
    faults: [...plan.faults],
    coverage: coverage.counts,
    happenings: world.timeline.happened,
    requests: oracle.sents.length,
    retries: oracle.retries,
    operations: plan.calls.length,
    lines: trace?.lines ?? [],
  }
}

async function serverOf(world: World, { api }: HistoryOptions): Promise<WireServer> {
  if (api) return new ApiServer(world, await api(rightClock(world)))
  return world.plan.server === 'ledger' ? new LedgerServer(world) : new ModelServer(world)
}

/** Simulated time, by a machine whose clock is never set. */
function rightClock({ timeline }: World): Clock {
  const after = (ms: number, callback: () => void): (() => void) => timeline.at(timeline.now + ms, callback)
  return { now: () => BEGINNING + timeline.now, after, sleep: (ms, signal) => sleepOn(after, ms, signal) }
}

async function happen(world: World, store: Journal, server: WireServer): Promise<void> {
  const { plan, timeline, oracle } = world
  const disk = new SimulatedDisk(world, store)
  const browser = new SimulatedBrowser(world)
  const slots = new Slots(world, { disk, network: new SimulatedNetwork(world, server, browser), browser })
  schedule(world, { plan, slots, disk, server, browser })
  try {
    await timeline.run(plan.endsAt)
    await new Ending(world, { slots, disk, server }).come()
    judgeEnd(oracle, plan, server.effects())
    await server.judgeEnd?.()
  } catch (error) {
    oracle.breaks(['P4', `the history did not come to its end: ${String(error)}`])
  } finally {
    slots.endAll()
  }
}

interface Stage {
  readonly plan: Plan
  readonly slots: Slots
  readonly disk: SimulatedDisk
  readonly server: WireServer
  readonly browser: SimulatedBrowser
}

/** These are a part of the plan: there is no moment at which they strike. */
const FROM_THE_BEGINNING: readonly Fault[] = [
  'same-id',
  'key-reuse',
  'short-window',
  'keys-ignored',
  'lanes',
  'same-key',
  'fresh-signature',
  'two-apis',
  'many-apis',
  'burst',
]

function schedule(world: World, stage: Stage): void {
  const { timeline } = world
  const { plan, slots } = stage
  slots.startAll()
  for (const call of plan.calls) timeline.at(call.at, () => slots.call(call))
  for (const backlog of plan.backlogs) timeline.at(backlog.at, () => slots.layUp(backlog))
  for (const act of plan.acts) timeline.at(act.at, () => !world.calm && perform(world, act, stage))
  for (const fault of FROM_THE_BEGINNING) if (plan.faults.has(fault)) world.happened(fault)
}

function perform(world: World, act: Act, { slots, disk, server, browser }: Stage): void {
  switch (act.do) {
    case 'outage':
      server.stopFor(act.ms)
      break
    case 'offline':
      browser.goOffline(act.ms)
      break
    case 'change-record':
      disk.changeRecord(act.what)
      break
    case 'disk-full':
      disk.fillUp(act.ms)
      break
    case 'power-cut':
      world.happened('power-cut')
      world.say('world', 'the power is cut')
      disk.cutPower()
      slots.killAll('loses its power')
      break
    case 'log-in':
      world.logIn(act.user)
      break
    case 'handlers-away':
      world.sendHandlersAway(act.ms)
      break
    case 'jump':
      world.setClock(act.machine, act.ms)
      break
    default:
      slots.perform(act)
  }
}
