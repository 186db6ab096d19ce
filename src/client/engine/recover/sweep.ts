import type { Gates, Room } from '../../gate/gates.ts'
import type { Slots } from './slots.ts'

/** What is claimed next: behind `after`, of these origins only or of all but some. */
export interface Stretch {
  readonly after: number
  readonly origins?: readonly string[]
  readonly exceptOrigins: readonly string[]
  readonly most: number
}

/** How long one of many passes goes on for these alone: what has become due since it began is for the next one. */
const LOOK_ELSEWHERE_MS = 500

/**
 * How far a pass over the journal is: one cursor for everything, and one for each origin that had little room at its gate
 * when the first cursor came by. So nothing is claimed twice in a pass, and no origin holds up another.
 */
export class Sweep {
  readonly #gates: Pick<Gates, 'rooms'>
  readonly #slots: Pick<Slots, 'rooms'>
  readonly #ofOrigins = new Map<string, number>()
  /** They are done, or left to a later pass: the first cursor, which may be behind them, must not meet them again. */
  readonly #swept = new Set<string>()
  #after = 0
  #isThrough = false
  /** Was the last claim for one origin? Then all the others have their turn: there may be thousands of the first kind. */
  #wasOfOrigin = false
  /** Since when the first cursor is at its end (epoch ms). */
  #throughAt: number | undefined

  constructor(gates: Pick<Gates, 'rooms'>, slots: Pick<Slots, 'rooms'>) {
    this.#gates = gates
    this.#slots = slots
  }

  /** Has it gone on for long for origins alone that had no room? Wherever the clock was set meanwhile. */
  isForFewOnly(now: number): boolean {
    this.#throughAt = this.#isThrough ? (this.#throughAt ?? now) : undefined
    return this.#throughAt !== undefined && Math.abs(now - this.#throughAt) >= LOOK_ELSEWHERE_MS
  }

  /** `later`: only for origins that have no room now. */
  next(): Stretch | 'later' | 'over' {
    const rooms = this.#rooms()
    if (!this.#isThrough) for (const origin of rooms.keys()) this.#set(origin)
    if (this.#wasOfOrigin && !this.#isThrough) return this.#others()
    for (const [origin, after] of this.#ofOrigins) {
      const room = rooms.get(origin)
      if (room === 'full for long') this.#finish(origin)
      else if (room !== 'full') return { after, origins: [origin], exceptOrigins: [], most: mostIn(room) }
    }
    if (!this.#isThrough) return this.#others()
    return this.#ofOrigins.size > 0 ? 'later' : 'over'
  }

  /** What an origin may get now: by its gate, and by the slots that it has for itself alone. */
  #rooms(): Map<string, Room | number> {
    const rooms = new Map<string, Room | number>(this.#gates.rooms())
    for (const [origin, room] of this.#slots.rooms()) {
      if (room === 0 && rooms.get(origin) !== 'full for long') rooms.set(origin, 'full')
      else if (!rooms.has(origin)) rooms.set(origin, room)
    }
    return rooms
  }

  #others(): Stretch {
    return { after: this.#after, exceptOrigins: [...this.#ofOrigins.keys(), ...this.#swept], most: ALL }
  }

  #set(origin: string): void {
    if (!this.#ofOrigins.has(origin) && !this.#swept.has(origin)) this.#ofOrigins.set(origin, this.#after)
  }

  #finish(origin: string): void {
    this.#ofOrigins.delete(origin)
    this.#swept.add(origin)
  }

  /** The last place that a claim of this stretch has come to. */
  reach({ after, origins: [origin] = [] }: Stretch, last: number): void {
    this.#wasOfOrigin = origin !== undefined
    if (origin === undefined) {
      this.#isThrough = last === after
      this.#after = last
    } else if (last === after) this.#finish(origin)
    else this.#ofOrigins.set(origin, last)
  }
}

const ALL = Number.POSITIVE_INFINITY

function mostIn(room: Room | number = ALL): number {
  return typeof room === 'number' ? room : 1
}

/** How far a pass is. */
export interface Pass {
  readonly dueBy: number
  readonly sweep: Sweep
  dead: readonly string[]
  /** When runners are checked for being alive (epoch ms). */
  checkAt: number
  isOver: boolean
}
