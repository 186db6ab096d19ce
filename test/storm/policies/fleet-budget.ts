import type { BudgetLimits } from '../../../src/client/gate/gate-limits.ts'
import type { World } from './policy.ts'

/**
 * How the processes of a fleet come to one budget. `row`: each retry takes its token from a row in their database, as
 * `sharedBudget` has it. `levels`: they send each other the levels of their buckets, and the lowest counts, as tabs have it.
 */
export type FleetSharing = 'row' | 'levels'

/** What one process has of the others. */
export interface FleetLink {
  /** The process's own bucket has paid, and has so much left. */
  take(left: number, answered: (isGranted: boolean) => void): void
  deposit(amount: number): void
  /** The least that another process was heard to have, since this was last asked. */
  lowest(): number
}

/** What the links of one fleet share. */
interface FleetPlace {
  row: { tokens: number; at: number } | undefined
  readonly links: Set<LevelLink>
}

/** Makes the links of fleets; the processes of a world are one. Undefined: each is on its own. */
export function fleetLinks(
  sharing: FleetSharing | undefined,
  limits: BudgetLimits | false,
): (world: World) => FleetLink | undefined {
  const places = new WeakMap<World, FleetPlace>()
  return (world) => {
    if (!sharing || !limits) return undefined
    const place = places.get(world) ?? { row: undefined, links: new Set() }
    places.set(world, place)
    const Link = sharing === 'row' ? RowLink : LevelLink
    return new Link(place, { limits, world })
  }
}

interface LinkTerms {
  readonly limits: BudgetLimits
  readonly world: World
}

/** A round trip to a database nearby. */
const TRIP_MS = 2
/** As the journal has them: successes wait for others, and so do messages. */
const REPORT_MS = 100
const GATHER_MS = 25
const A_TOKEN = 1 - 1e-9

/** As `PostgresBudget` and its statement. */
class RowLink implements FleetLink {
  readonly #place: FleetPlace
  readonly #limits: BudgetLimits
  readonly #world: World
  #isFull = true
  #earned = 0
  #isReporting = false

  constructor(place: FleetPlace, { limits, world }: LinkTerms) {
    this.#place = place
    this.#limits = limits
    this.#world = world
  }

  take(left: number, answered: (isGranted: boolean) => void): void {
    this.#world.after(TRIP_MS / 2, () => {
      const isGranted = this.#exchange(left + 1, 1)
      this.#world.after(TRIP_MS / 2, () => answered(isGranted))
    })
  }

  deposit(amount: number): void {
    if (this.#isFull) return
    this.#earned += amount
    if (this.#isReporting) return
    this.#isReporting = true
    this.#world.after(REPORT_MS, () => {
      this.#isReporting = false
      this.#exchange(this.#limits.burst, 0)
    })
  }

  lowest(): number {
    return Number.POSITIVE_INFINITY
  }

  #exchange(own: number, wanted: 0 | 1): boolean {
    const { burst, rest, reservePerSecond } = this.#limits
    const { now } = this.#world
    const { tokens, at } = this.#place.row ?? { tokens: own, at: now }
    const rested = Math.max(tokens, Math.min(rest, tokens + ((now - at) / 1000) * reservePerSecond))
    const level = Math.min(burst, rested + (this.#place.row ? this.#earned : 0))
    const isGranted = level >= A_TOKEN
    this.#place.row = { tokens: isGranted ? level - wanted : level, at: now }
    this.#earned = 0
    this.#isFull = this.#place.row.tokens >= burst
    return isGranted
  }
}

class LevelLink implements FleetLink {
  readonly #place: FleetPlace
  readonly #world: World
  #heard = Number.POSITIVE_INFINITY
  #unsent = Number.POSITIVE_INFINITY

  constructor(place: FleetPlace, { world }: LinkTerms) {
    this.#place = place
    this.#world = world
    place.links.add(this)
  }

  take(left: number, answered: (isGranted: boolean) => void): void {
    answered(true)
    if (this.#unsent === Number.POSITIVE_INFINITY) this.#world.after(GATHER_MS + TRIP_MS, () => this.#send())
    this.#unsent = Math.min(this.#unsent, left)
  }

  deposit(): void {}

  lowest(): number {
    const lowest = this.#heard
    this.#heard = Number.POSITIVE_INFINITY
    return lowest
  }

  #send(): void {
    for (const link of this.#place.links) if (link !== this) link.#heard = Math.min(link.#heard, this.#unsent)
    this.#unsent = Number.POSITIVE_INFINITY
  }
}
