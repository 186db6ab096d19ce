import { type Dice, diceFor } from './dice.ts'
import type { Cast } from './draw-calls.ts'
import { type Act, MINUTE, type PlannedCrash, type RecordChange, SECOND, USERS } from './plan.ts'
import { CLIENT_POINTS, type Fault } from './vocabulary.ts'

export function drawActs(seed: number | string, cast: Cast & { readonly machines: number }): Act[] {
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
  act('page-hidden', (dice, at, slot) => ({
    do: 'hide',
    at,
    slot,
    ms: dice.pick([50, 2 * SECOND, 31 * SECOND, 90 * SECOND]),
  }))
  act('offline', (dice, at) => ({ do: 'offline', at, ms: dice.pick([500, 10 * SECOND, 50 * SECOND]) }))
  act('listed', (_, at, slot) => ({ do: 'list', at, slot }))
  act('power-cut', (_, at) => ({ do: 'power-cut', at }))
  act('outage', (dice, at) => ({ do: 'outage', at, ms: dice.pick([2 * SECOND, 30 * SECOND, 3 * MINUTE, 12 * MINUTE]) }))
  act('disk-full', (dice, at) => ({ do: 'disk-full', at, ms: dice.pick([100, 5 * SECOND, 40 * SECOND]) }))
  act('handlers-away', (dice, at) => ({ do: 'handlers-away', at, ms: dice.pick([13 * MINUTE, 20 * MINUTE]) }))
  const what = (dice: Dice): RecordChange => dice.pick(['origin', 'origin', 'url', 'body'])
  act('record-changed', (dice, at) => ({ do: 'change-record', at, what: what(dice) }))
  act('log-in', (dice, at) => ({ do: 'log-in', at, user: dice.pick(USERS) }))
  const jump = (dice: Dice): number => dice.pick([2 * SECOND, 40 * SECOND, 4 * MINUTE])
  const machine = (dice: Dice): number => dice.between(0, machines - 1)
  act('clock-ahead', (dice, at) => ({ do: 'jump', at, machine: machine(dice), ms: jump(dice) }))
  act('clock-back', (dice, at) => ({ do: 'jump', at, machine: machine(dice), ms: -jump(dice) }))
  return acts
}

/** Points that few histories come to are aimed at more often. */
const RARE = CLIENT_POINTS.filter((point) => /^(renew|read|claim-by-key|deliver|release|remove)/.test(point))
const RAREST = CLIENT_POINTS.filter((point) => point.startsWith('remove'))
const AIMS = [...CLIENT_POINTS, ...RARE, ...RARE, ...RARE, ...RAREST, ...RAREST, ...RAREST]

/** Anywhere, several times; now and then a loop that ends at the same point in every life. */
export function drawCrashes(dice: Dice, slots: number): PlannedCrash[] {
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
