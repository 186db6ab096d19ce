import { type Dice, diceFor } from './dice.ts'
import { drawActs, drawCrashes } from './draw-acts.ts'
import { amongApis, drawApis, drawBursts, isQuiet, quietFaults } from './draw-apis.ts'
import { drawCalls } from './draw-calls.ts'
import { drawLedger } from './draw-ledger.ts'
import {
  type Act,
  DEDUP_WINDOW_MS,
  HORIZON_MS,
  ORIGIN,
  type Plan,
  SECOND,
  SHORT_HORIZON_MS,
  SHORT_RETENTION_MS,
  SHORT_WINDOW_MS,
  type SlotPlan,
} from './plan.ts'
import { FAULTS, type Fault } from './vocabulary.ts'

/** Faults that a history without them would be dull for; the others come to a quarter of the histories. */
const LIKELY: Partial<Record<Fault, number>> = {
  crash: 0.7,
  'answer-lost': 0.4,
  busy: 0.35,
  'same-id': 0.4,
  'keys-ignored': 0.1,
  // Only a third of the histories has a ledger.
  'ledger-record-fails': 0.4,
  'work-fails-after': 0.5,
  'ledger-crash': 0.5,
  'ledger-freeze': 0.5,
  'duplicate-burst': 0.5,
  'renewals-starve': 0.4,
  'ledger-cut-off': 0.3,
  'work-throws-refusal': 0.4,
  'work-ends-transaction': 0.4,
  'framework-timeout': 0.3,
  'program-exits': 0.4,
  'work-slow': 0.35,
  // Only tabs have users.
  'log-in': 0.4,
  'many-apis': 0.1,
  // Only where there are many.
  'api-blips': 0.6,
  'api-outage': 0.4,
  'api-hangs': 0.4,
  'api-throttles': 0.4,
  'api-slow': 0.4,
  burst: 0.6,
  backlog: 0.7,
  'handler-hangs': 0.3,
}
/** How many of the histories whose server knows keys have the real ledger for it. */
const LEDGERS = 0.4
const USUAL = 0.2

export function drawPlan(seed: number | string, without: ReadonlySet<string> = new Set()): Plan {
  const all = drawFaults(seed, without)
  const quiet = isQuiet(seed, all)
  const drawn = quiet ? quietFaults(all) : all
  const platform = diceFor(seed, 'platform').chance(0.3) && !quiet ? 'tabs' : 'processes'
  const faults = platform === 'tabs' ? amongTabs(drawn) : lessThese(drawn, OF_TABS)
  const shape = diceFor(seed, 'shape')
  // Tabs share a store, and so a machine.
  const machines = shape.chance(0.3) && platform === 'processes' ? 2 : 1
  const drawnSlots = Array.from({ length: shape.pick([1, 1, 2, 2, 3]) }, () => drawSlot(shape, machines))
  const apis = drawApis(seed, { slots: drawnSlots.length, faults })
  const slots = drawnSlots.map((slot, n) => amongApis(slot, n, { ...apis, dice: diceFor(seed, `api ${n}`) }))
  const cast = { slots: slots.length, faults, origins: apis.origins }
  const calls = [...drawCalls(seed, cast), ...drawBursts(seed, cast)]
  const acts = drawActs(seed, { slots: slots.length, machines, faults })
  const last = Math.max(...calls.map((call) => call.at + call.deadlineMs), ...acts.map(waitsUntil))
  return {
    seed,
    faults,
    slots,
    ...apis,
    machines,
    calls,
    acts,
    crashes: faults.has('crash') ? drawCrashes(diceFor(seed, 'crashes'), slots.length) : [],
    ...(quiet && diceFor(seed, 'default options').chance(0.6) ? DEFAULTS : drawOptions(diceFor(seed, 'options'))),
    platform,
    liveness: shape.chance(0.5) ? 'known' : 'lease-only',
    observed: shape.chance(0.15),
    credentials: shape.pick(['at-hand', quiet ? 'at-hand' : 'asked-for']),
    windowMs: faults.has('short-window') ? SHORT_WINDOW_MS : DEDUP_WINDOW_MS,
    horizonMs: drawHorizon(diceFor(seed, 'horizon'), { faults, isQuiet: quiet }),
    retentionMs: faults.has('handlers-away') ? SHORT_RETENTION_MS : DEDUP_WINDOW_MS,
    server: quiet ? 'honours-keys' : drawServer(diceFor(seed, 'which server'), faults),
    ledger: drawLedger(seed, faults),
    honoursKeys: quiet || drawHonoursKeys(diceFor(seed, 'honours-keys'), faults),
    endsAt: last + shape.between(0, 40) * SECOND,
  }
}

/** Headers that take their time are interesting where little of it is left. */
function drawHorizon(dice: Dice, { faults, isQuiet: quiet }: Pick<Plan, 'faults' | 'isQuiet'>): number {
  return dice.chance(faults.has('headers-slow') ? 0.5 : 0.15) && !quiet ? SHORT_HORIZON_MS : HORIZON_MS
}

/** Only handlers are waited for: other faults may last into the calm, and end with it. */
function waitsUntil(act: Act): number {
  return act.do === 'handlers-away' ? act.at + act.ms : act.at
}

function drawFaults(seed: number | string, without: ReadonlySet<string>): Set<Fault> {
  const dice = diceFor(seed, 'faults')
  const drawn = FAULTS.filter((fault) => dice.chance(LIKELY[fault] ?? USUAL))
  // Where an id is used for two things, asking again by it says nothing about one of them.
  const clear = drawn.includes('key-reuse') ? drawn.filter((fault) => fault !== 'retry-by-key') : drawn
  // Where keys mean nothing, a copy that the network makes is a second effect that no client can help; and so is a
  // second use of a key whose record is gone.
  const fair = clear.includes('keys-ignored') ? clear.filter((fault) => !UNFAIR.includes(fault)) : clear
  return new Set(fair.filter((fault) => !without.has(fault)))
}

function lessThese(faults: ReadonlySet<Fault>, left: readonly Fault[]): Set<Fault> {
  return new Set([...faults].filter((fault) => !left.includes(fault)))
}

/** Where two users call for the same operation, it is a matter of taste whose it is. */
function amongTabs(faults: ReadonlySet<Fault>): Set<Fault> {
  return lessThese(faults, faults.has('log-in') ? ['same-id', 'same-key', 'key-reuse'] : [])
}

const OF_TABS: readonly Fault[] = ['page-hidden', 'offline', 'messages-slow', 'locks-slow', 'locks-unknown', 'log-in']
const UNFAIR: readonly Fault[] = [
  'duplicate',
  'late-duplicate',
  'duplicate-burst',
  'router-retries',
  'short-window',
  'same-key',
]

function drawServer(dice: Dice, faults: ReadonlySet<Fault>): Plan['server'] {
  const isLedger = dice.chance(LEDGERS)
  if (faults.has('keys-ignored')) return 'ignores-keys'
  return isLedger ? 'ledger' : 'honours-keys'
}

/** A program that calls a server which ignores keys mostly says so; now and then a program is careful without need. */
function drawHonoursKeys(dice: Dice, faults: ReadonlySet<Fault>): boolean {
  return faults.has('keys-ignored') ? dice.chance(0.3) : dice.chance(0.9)
}

function drawSlot(dice: Dice, machines: number): SlotPlan {
  return {
    origin: ORIGIN,
    trusts: [],
    machine: dice.between(0, machines - 1),
    handlers: dice.pick(['all', 'named', 'named', 'none']),
    headers: dice.pick(['full', 'full', 'full', 'poor']),
    resume: dice.pick(['once', 'once', 'once', 'watch', 'none']),
    restartAfterMs: dice.pick([1, 50, 2 * SECOND, 12 * SECOND, 35 * SECOND]),
    restarts: dice.pick([0, 1, 2, 3, 8]),
  }
}

/** As a client has them that was given none. */
const DEFAULTS: Pick<Plan, 'options' | 'budget'> = { options: {}, budget: { tokens: 2, ratio: 1.1 } }

function drawOptions(dice: Dice): Pick<Plan, 'options' | 'budget'> {
  const burst = dice.pick([1, 2, 2, 10, undefined])
  const breaker = dice.pick([false, false, undefined, { openAfter: '2s', openFor: '3s' }] as const)
  return {
    budget: burst === undefined ? undefined : { tokens: burst, ratio: 0.1 },
    options: {
      retry: {
        jitter: dice.pick(['full', 'equal', 'decorrelated', 'none']),
        base: dice.pick([10, 100, 500]),
        cap: dice.pick([1 * SECOND, 5 * SECOND, 20 * SECOND]),
        maxAttempts: dice.between(1, 5),
      },
      budget: burst === undefined ? false : { burst, ratio: 0.1, reservePerSecond: 0.1 },
      breaker,
      attemptTimeout: dice.pick([1 * SECOND, 3 * SECOND, 10 * SECOND]),
    },
  }
}
