import type { ClientOptions } from '../../client/options.ts'
import { type Dice, diceFor } from './dice.ts'
import { CRASH_POINTS, type CrashPoint, FAULTS, type Fault } from './vocabulary.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

/** What every client of every history is told, and what an honest server keeps. */
export const DEDUP_WINDOW_MS = 30 * MINUTE
export const HORIZON_MS = 4 * MINUTE
/** A server with a shorter memory than it promised. */
export const SHORT_WINDOW_MS = 20 * SECOND

/** A place where one process after the other runs. */
export interface SlotPlan {
  readonly machine: number
  readonly handlers: 'all' | 'named' | 'none'
  readonly resume: 'once' | 'watch' | 'none'
  readonly restartAfterMs: number
  readonly restarts: number
}

/** One call of the program around the client, and what the program does about it later. */
export interface CallPlan {
  /** The logical operation: calls that mean the same have the same label, and so the same bytes. */
  readonly label: string
  readonly slot: number
  readonly at: number
  readonly id: string | undefined
  readonly name: string | undefined
  readonly method: 'post' | 'put' | 'patch' | 'delete'
  readonly onGiveUp: 'fail' | 'keep'
  readonly deadlineMs: number
  readonly withCredentials: boolean
  readonly abortAfterMs: number | undefined
  readonly cancelAfterMs: number | undefined
  readonly retryAfterMs: number | undefined
}

/** What happens to the world at a time. */
export type Act =
  | { readonly do: 'freeze'; readonly at: number; readonly slot: number; readonly ms: number }
  | { readonly do: 'jump'; readonly at: number; readonly machine: number; readonly ms: number }
  | { readonly do: 'crash' | 'close' | 'resume'; readonly at: number; readonly slot: number }
  | { readonly do: 'power-cut'; readonly at: number }
  | { readonly do: 'outage' | 'disk-full'; readonly at: number; readonly ms: number }

/** The process in that slot ends when it comes to this point for that time. */
export interface PlannedCrash {
  readonly slot: number
  readonly point: CrashPoint
  readonly occurrence: number
}

/** Everything about a history that is decided before it begins. */
export interface Plan {
  readonly seed: number | string
  readonly faults: ReadonlySet<Fault>
  readonly slots: readonly SlotPlan[]
  readonly machines: number
  readonly calls: readonly CallPlan[]
  readonly acts: readonly Act[]
  readonly crashes: readonly PlannedCrash[]
  readonly options: Pick<ClientOptions, 'retry' | 'budget' | 'breaker' | 'attemptTimeout'>
  readonly burst: number | undefined
  /** Can a process tell that a neighbour is dead, or does only its lease tell? */
  readonly liveness: 'known' | 'lease-only'
  /** Does the program have its credentials at hand, or does it ask for them at every attempt? */
  readonly credentials: 'at-hand' | 'asked-for'
  /** Are the client's events listened to, and searched for secrets? */
  readonly observed: boolean
  readonly windowMs: number
  /** From then on nothing goes wrong any more, and everything accepted has to come to its end. */
  readonly endsAt: number
}

/** Faults that a history without them would be dull for; the others come to a quarter of the histories. */
const LIKELY: Partial<Record<Fault, number>> = { crash: 0.7, 'answer-lost': 0.4, busy: 0.35, 'same-id': 0.4 }
const USUAL = 0.2

export function drawPlan(seed: number | string, without: ReadonlySet<string> = new Set()): Plan {
  const faults = drawFaults(seed, without)
  const shape = diceFor(seed, 'shape')
  const machines = shape.chance(0.3) ? 2 : 1
  const slots = Array.from({ length: shape.pick([1, 1, 2, 2, 3]) }, () => drawSlot(shape, machines))
  const calls = drawCalls(seed, { slots: slots.length, faults })
  const acts = drawActs(seed, { slots: slots.length, machines, faults })
  const last = Math.max(...calls.map((call) => call.at + call.deadlineMs), ...acts.map((act) => act.at))
  return {
    seed,
    faults,
    slots,
    machines,
    calls,
    acts,
    crashes: faults.has('crash') ? drawCrashes(diceFor(seed, 'crashes'), slots.length) : [],
    ...drawOptions(diceFor(seed, 'options')),
    liveness: shape.chance(0.5) ? 'known' : 'lease-only',
    observed: shape.chance(0.15),
    credentials: shape.pick(['at-hand', 'asked-for']),
    windowMs: faults.has('short-window') ? SHORT_WINDOW_MS : DEDUP_WINDOW_MS,
    endsAt: last + shape.between(0, 40) * SECOND,
  }
}

function drawFaults(seed: number | string, without: ReadonlySet<string>): Set<Fault> {
  const dice = diceFor(seed, 'faults')
  const drawn = FAULTS.filter((fault) => dice.chance(LIKELY[fault] ?? USUAL))
  // Where an id is used for two things, asking again by it says nothing about one of them.
  const clear = drawn.includes('key-reuse') ? drawn.filter((fault) => fault !== 'retry-by-key') : drawn
  return new Set(clear.filter((fault) => !without.has(fault)))
}

function drawSlot(dice: Dice, machines: number): SlotPlan {
  return {
    machine: dice.between(0, machines - 1),
    handlers: dice.pick(['all', 'named', 'named', 'none']),
    resume: dice.pick(['once', 'once', 'once', 'watch', 'none']),
    restartAfterMs: dice.pick([1, 50, 2 * SECOND, 12 * SECOND, 35 * SECOND]),
    restarts: dice.pick([0, 1, 2, 3, 8]),
  }
}

function drawOptions(dice: Dice): Pick<Plan, 'options' | 'burst'> {
  const burst = dice.pick([1, 2, 2, 10, undefined])
  const breaker = dice.pick([false, false, undefined, { minimumRequests: 3, openFor: '3s' }] as const)
  return {
    burst,
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

interface Cast {
  readonly slots: number
  readonly faults: ReadonlySet<Fault>
}

function drawCalls(seed: number | string, { slots, faults }: Cast): CallPlan[] {
  const dice = diceFor(seed, 'calls')
  const calls = Array.from({ length: dice.pick([1, 1, 2, 2, 3]) }, (_, n) => drawCall(dice, { slots, faults, n }))
  const first = calls[0] as CallPlan
  if (faults.has('same-id')) {
    const again = drawCall(diceFor(seed, 'same-id'), { slots, faults, n: 0 })
    calls[0] = { ...first, id: 'order-0' }
    const { label, name, method, withCredentials } = first
    calls.push({ ...again, label, name, method, withCredentials, id: 'order-0' })
  }
  if (faults.has('key-reuse')) {
    const other = drawCall(diceFor(seed, 'key-reuse'), { slots, faults, n: 0 })
    calls[0] = { ...(calls[0] as CallPlan), id: 'order-0' }
    calls.push({ ...other, label: 'other', id: 'order-0' })
  }
  return calls
}

function drawCall(dice: Dice, { slots, faults, n }: Cast & { readonly n: number }): CallPlan {
  const call: CallPlan = {
    label: `op${n}`,
    slot: dice.between(0, slots - 1),
    at: dice.pick([0, 0, dice.between(0, 500), dice.between(0, 20 * SECOND), dice.between(0, 60 * SECOND)]),
    id: dice.chance(0.3) ? `order-${n}` : undefined,
    name: dice.chance(0.5) ? 'order' : undefined,
    method: dice.pick(['post', 'post', 'put', 'patch', 'delete']),
    onGiveUp: dice.chance(0.4) ? 'keep' : 'fail',
    deadlineMs: dice.pick([500, 2 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND]),
    withCredentials: dice.chance(0.06),
    abortAfterMs: dice.between(0, 4 * SECOND),
    cancelAfterMs: dice.between(0, 8 * SECOND),
    retryAfterMs: dice.between(0, 60 * SECOND),
  }
  // The dice have fallen for all of it, so that taking a fault away changes nothing else.
  const kept = (fault: Fault, chance: number): boolean => dice.chance(chance) && faults.has(fault)
  return {
    ...call,
    abortAfterMs: kept('abort', 0.6) ? call.abortAfterMs : undefined,
    cancelAfterMs: kept('cancel', 0.6) ? call.cancelAfterMs : undefined,
    retryAfterMs: kept('retry-by-key', 0.8) ? call.retryAfterMs : undefined,
  }
}

function drawActs(seed: number | string, cast: Cast & { readonly machines: number }): Act[] {
  const { slots, machines, faults } = cast
  const acts: Act[] = []
  const act = (fault: Fault | undefined, make: (dice: Dice, at: number, slot: number) => Act): void => {
    if (fault && !faults.has(fault)) return
    const dice = diceFor(seed, `act ${fault ?? 'resume'}`)
    const times = dice.between(1, 2)
    for (let n = 0; n < times; n++) {
      const at = dice.pick([dice.between(0, 200), dice.between(0, 5 * SECOND), dice.between(0, 60 * SECOND)])
      acts.push(make(dice, at, dice.between(0, slots - 1)))
    }
  }
  act(undefined, (_, at, slot) => ({ do: 'resume', at, slot }))
  act('crash', (_, at, slot) => ({ do: 'crash', at, slot }))
  act('close', (_, at, slot) => ({ do: 'close', at, slot }))
  act('freeze', (dice, at, slot) => ({
    do: 'freeze',
    at,
    slot,
    ms: dice.pick([500, 12 * SECOND, 31 * SECOND, 90 * SECOND]),
  }))
  act('power-cut', (_, at) => ({ do: 'power-cut', at }))
  act('outage', (dice, at) => ({ do: 'outage', at, ms: dice.pick([2 * SECOND, 30 * SECOND, 3 * MINUTE, 12 * MINUTE]) }))
  act('disk-full', (dice, at) => ({ do: 'disk-full', at, ms: dice.pick([100, 5 * SECOND, 40 * SECOND]) }))
  const jump = (dice: Dice): number => dice.pick([2 * SECOND, 40 * SECOND, 4 * MINUTE])
  const machine = (dice: Dice): number => dice.between(0, machines - 1)
  act('clock-ahead', (dice, at) => ({ do: 'jump', at, machine: machine(dice), ms: jump(dice) }))
  act('clock-back', (dice, at) => ({ do: 'jump', at, machine: machine(dice), ms: -jump(dice) }))
  return acts
}

/** Points that few histories come to are aimed at more often. */
const RARE = CRASH_POINTS.filter((point) => /^(renew|read|claim-one|deliver|release|remove)/.test(point))
const AIMS = [...CRASH_POINTS, ...RARE, ...RARE, ...RARE]

/** Anywhere, several times; now and then a loop that ends at the same point in every life. */
function drawCrashes(dice: Dice, slots: number): PlannedCrash[] {
  if (dice.chance(0.05)) {
    const slot = dice.between(0, slots - 1)
    const point = dice.pick(['send:travelling', 'send:travelling', 'send:answered', 'settle:asked'] as const)
    return Array.from({ length: 8 }, (_, n) => ({ slot, point, occurrence: n + 1 }))
  }
  return Array.from({ length: dice.pick([0, 1, 1, 2, 6]) }, () => ({
    slot: dice.between(0, slots - 1),
    point: dice.pick(AIMS),
    occurrence: dice.pick([1, 1, 1, 2, 3]),
  }))
}
