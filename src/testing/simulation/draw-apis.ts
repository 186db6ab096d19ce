import { type Dice, diceFor } from './dice.ts'
import {
  type Backlog,
  type CallPlan,
  MORE_ORIGINS,
  ORIGIN,
  OTHER_ORIGIN,
  type Plan,
  RUN_DEADLINE_MS,
  SECOND,
  type SlotPlan,
  type Trouble,
} from './plan.ts'
import type { Fault } from './vocabulary.ts'

const USUAL_WATCH_MS = 6 * SECOND
const LONG_WATCH_MS = 90 * SECOND

/** Nothing else goes wrong where it is judged whether one API, lane or handler holds up another. */
const QUIET: ReadonlySet<Fault> = new Set<Fault>([
  'many-apis',
  'api-blips',
  'api-outage',
  'api-hangs',
  'api-throttles',
  'api-slow',
  'burst',
  'backlog',
  'handler-hangs',
  'lanes',
])

export function isQuiet(seed: number | string, faults: ReadonlySet<Fault>): boolean {
  return diceFor(seed, 'quiet').chance(0.6) && faults.has('many-apis')
}

export function quietFaults(faults: ReadonlySet<Fault>): Set<Fault> {
  return new Set([...faults].filter((fault) => QUIET.has(fault)))
}

type Terms = { readonly slots: number; readonly faults: ReadonlySet<Fault> }
type Apis = Pick<Plan, 'origins' | 'troubles' | 'backlogs' | 'concurrency' | 'watchMs' | 'hangingName' | 'isQuiet'>

/** Of which APIs a history is, and what is wrong with each. */
export function drawApis(seed: number | string, { slots, faults }: Terms): Apis {
  const dice = diceFor(seed, 'apis')
  const isMany = faults.has('many-apis')
  const several = [ORIGIN, OTHER_ORIGIN, ...MORE_ORIGINS].slice(0, dice.between(2, 4))
  const origins = isMany ? several : faults.has('two-apis') ? [ORIGIN, OTHER_ORIGIN] : [ORIGIN]
  const concurrency = dice.pick([undefined, undefined, undefined, 1, 1, 2])
  return {
    origins,
    troubles: isMany ? drawTroubles(seed, origins, faults) : [],
    backlogs: isMany && faults.has('backlog') ? drawBacklogs(diceFor(seed, 'backlog'), origins, slots) : [],
    concurrency: isMany ? concurrency : undefined,
    watchMs: isMany ? LONG_WATCH_MS : USUAL_WATCH_MS,
    hangingName: isMany && faults.has('handler-hangs') ? 'mail' : undefined,
    isQuiet: isQuiet(seed, faults),
  }
}

const TROUBLES: readonly { readonly fault: Fault; readonly draw: (dice: Dice) => Drawn }[] = [
  {
    fault: 'api-blips',
    draw: (dice) => [dice.pick(['refuses', 'resets', 'errors', 'hangs']), dice.between(300, 5000)],
  },
  { fault: 'api-outage', draw: (dice) => [dice.pick(['refuses', 'resets', 'errors']), 30 * SECOND] },
  { fault: 'api-hangs', draw: (dice) => ['hangs', dice.pick([8 * SECOND, 20 * SECOND, 60 * SECOND])] },
  { fault: 'api-throttles', draw: (dice) => ['throttles', dice.pick([2 * SECOND, 10 * SECOND, 30 * SECOND])] },
  { fault: 'api-slow', draw: (dice) => ['slow', dice.pick([5 * SECOND, 20 * SECOND])] },
]
type Drawn = readonly [kind: Trouble['kind'], ms: number]

/** One API at least has none. */
function drawTroubles(seed: number | string, origins: readonly string[], faults: ReadonlySet<Fault>): Trouble[] {
  const well = diceFor(seed, 'well api').pick(origins)
  const troubled = origins.filter((origin) => origin !== well)
  return troubled.flatMap((origin) =>
    TROUBLES.flatMap(({ fault, draw }) => {
      const dice = diceFor(seed, `${fault} ${origin}`)
      if (!dice.chance(0.5) || !faults.has(fault)) return []
      const from = dice.pick([0, dice.between(0, 3 * SECOND), dice.between(0, 20 * SECOND)])
      const [kind, ms] = draw(dice)
      return [{ fault, origin, kind, from, until: from + ms }]
    }),
  )
}

const NAMES = ['order', 'mail', undefined]

function drawBacklogs(dice: Dice, origins: readonly string[], slots: number): Backlog[] {
  return Array.from({ length: dice.between(1, 3) }, (_, n) => ({
    label: `backlog${n}-`,
    origin: dice.pick(origins),
    slot: dice.between(0, slots - 1),
    at: dice.pick([0, 0, dice.between(0, 3 * SECOND), dice.between(0, 20 * SECOND)]),
    count: dice.pick([3, 8, 8, 20, 20, 40, 120]),
    name: dice.pick(NAMES),
    lane: dice.chance(0.4) ? `backlog-${n}` : undefined,
  }))
}

/** Many calls at once, or nearly so. */
export function drawBursts(
  seed: number | string,
  { slots, faults, origins }: Terms & Pick<Plan, 'origins'>,
): CallPlan[] {
  if (!faults.has('many-apis') || !faults.has('burst')) return []
  const dice = diceFor(seed, 'burst')
  return Array.from({ length: dice.between(1, 3) }, (_, burst) => {
    const at = dice.pick([0, dice.between(0, 3 * SECOND), dice.between(0, 20 * SECOND)])
    const within = dice.pick([0, 200, 2 * SECOND])
    const terms = { origin: dice.pick(origins), slot: dice.between(0, slots - 1), name: dice.pick(NAMES) }
    const onGiveUp = dice.pick(['fail', 'fail', 'keep'] as const)
    return Array.from({ length: dice.between(5, 30) }, (__, n) =>
      oneOfBurst({ ...terms, onGiveUp, label: `burst${burst}-${n}`, at: at + dice.between(0, within) }),
    )
  }).flat()
}

function oneOfBurst(call: Pick<CallPlan, 'origin' | 'slot' | 'name' | 'onGiveUp' | 'label' | 'at'>): CallPlan {
  return {
    ...call,
    id: undefined,
    key: undefined,
    method: 'post',
    through: 'verb',
    outbox: undefined,
    lane: undefined,
    laneOnFailure: 'stop',
    deadlineMs: RUN_DEADLINE_MS,
    withCredentials: false,
    signature: undefined,
    abortAfterMs: undefined,
    cancelAfterMs: undefined,
    retryAfterMs: undefined,
    reads: 'response',
    looksAfterMs: undefined,
    readsLaterMs: 0,
  }
}

/** What a slot resumes beside its own API; where nothing else goes wrong, there is always somebody who resumes. */
export function amongApis(slot: SlotPlan, n: number, { origins, isQuiet: quiet, dice }: Among): SlotPlan {
  const origin = dice.pick(origins)
  const others = origins.filter((other) => other !== origin)
  const trusts = origins.length > 1 && dice.chance(0.7) ? others : []
  if (!quiet) return { ...slot, origin, trusts }
  const first = n === 0 ? ({ resume: 'watch', handlers: 'all', trusts: others } as const) : { trusts }
  return { ...slot, headers: 'full', origin, ...first }
}

interface Among extends Pick<Plan, 'origins' | 'isQuiet'> {
  readonly dice: Dice
}
