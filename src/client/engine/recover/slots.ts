import { type Clock, momentOf, startBackgroundTimer } from '../../../foundation/clock.ts'
import type { Slot } from '../run/slot.ts'

/** If more lanes wait than this, no pass adds further ones: memory does not grow with the number of lanes. */
const MOST_WAITING_LANES = 1000
/** A request without an answer for so long gives its slot to others, if they wait for one. */
export const LONG_MS = 500

/** What its slot is for. */
interface Waiting {
  readonly origin: string
  readonly start: () => void
}

/**
 * The slots of a resume: how many operations it sends at once. A pass, which looks for operations in the order of acceptance, and
 * lanes, which ask for their next one, get every second slot if both wait: neither a busy lane nor a long backlog starves the
 * other. An operation that waits for its origin or its next attempt has none meanwhile, and goes before both.
 *
 * An origin that hangs holds up no other one: a request that has long been without an answer counts for its own origin only, which
 * never has more requests than there are slots.
 */
export class Slots {
  readonly #count: number
  readonly #clock: Clock
  #free: number
  /** Those that count for all, the oldest first, and since when each does. */
  readonly #held = new Map<HeldSlot, number>()
  /** How many each origin has, those that count for it alone included; and of these, how many there are. */
  readonly #ofOrigins = new Map<string, { all: number; long: number }>()
  readonly #passes: (() => void)[] = []
  readonly #lanes: Waiting[] = []
  readonly #operations: Waiting[] = []
  #last: 'pass' | 'lane' = 'lane'
  #cancelTimer: (() => void) | undefined

  constructor(count: number, clock: Clock) {
    this.#count = count
    this.#clock = clock
    this.#free = count
  }

  /** Resolves when the pass has a slot. */
  take(): Promise<void> {
    // Nobody waits while a slot is free.
    if (this.#free === 0) return this.#wait((start) => this.#passes.push(start))
    this.#free--
    return Promise.resolve()
  }

  /** Resolves when a lane, whose operations are for this origin, has a slot. */
  takeForLane(origin: string): Promise<void> {
    if (!this.hasRoomFor(origin)) return this.#wait((start) => this.#lanes.push({ origin, start }))
    this.#free--
    return Promise.resolve()
  }

  /** Takes slots that are free now, up to `most`; returns how many these are. */
  takeFree(most: number): number {
    const count = Math.min(most, this.#free)
    this.#free -= count
    return count
  }

  release(count = 1): void {
    this.#free += count
    while (this.#free > 0) {
      const start = this.#next()
      if (!start) return
      this.#free--
      start()
    }
  }

  /** A slot that was taken is for an operation of this origin. */
  hold(origin: string): Slot {
    const slot = new HeldSlot(this, origin)
    this.begin(slot)
    return slot
  }

  /** How many more each of these origins may have; of all others, only the slots decide. */
  *rooms(): Iterable<readonly [origin: string, room: number]> {
    for (const [origin, { all, long }] of this.#ofOrigins) if (long > 0) yield [origin, Math.max(0, this.#count - all)]
  }

  hasRoomFor(origin: string): boolean {
    return this.#free > 0 && this.#isBelowCount(origin)
  }

  #isBelowCount(origin: string): boolean {
    return (this.#ofOrigins.get(origin)?.all ?? 0) < this.#count
  }

  takeFor(slot: HeldSlot): Promise<void> {
    const { origin } = slot
    if (!this.hasRoomFor(origin)) {
      return this.#wait((start) => {
        const begin = (): void => {
          this.begin(slot)
          start()
        }
        this.#operations.push({ origin, start: begin })
      })
    }
    this.#free--
    this.begin(slot)
    return Promise.resolve()
  }

  begin(slot: HeldSlot): void {
    const { origin } = slot
    const { all, long } = this.#ofOrigins.get(origin) ?? { all: 0, long: 0 }
    this.#ofOrigins.set(origin, { all: all + 1, long })
    this.#held.set(slot, momentOf(this.#clock).elapsed)
  }

  end(slot: HeldSlot): void {
    const { origin } = slot
    const { all, long } = this.#ofOrigins.get(origin) ?? { all: 1, long: 0 }
    const isLong = !this.#held.delete(slot)
    if (all === 1) this.#ofOrigins.delete(origin)
    else this.#ofOrigins.set(origin, { all: all - 1, long: isLong ? long - 1 : long })
    this.release(isLong ? 0 : 1)
  }

  #wait(join: (start: () => void) => void): Promise<void> {
    const started = new Promise<void>((resolve) => join(resolve))
    this.#lend()
    return started
  }

  /** While somebody waits: what is long gives its slot back, and counts for its own origin only. */
  #lend(): void {
    if (this.#cancelTimer) return
    for (const [slot, since] of this.#held) {
      const leftMs = since + LONG_MS - momentOf(this.#clock).elapsed
      if (!this.#isWanted) return
      if (leftMs > 0) {
        this.#cancelTimer = startBackgroundTimer(this.#clock, leftMs, () => this.#lendAgain())
        return
      }
      this.#held.delete(slot)
      const ofOrigin = this.#ofOrigins.get(slot.origin)
      if (ofOrigin) ofOrigin.long++
      this.release()
    }
  }

  #lendAgain(): void {
    this.#cancelTimer = undefined
    this.#lend()
  }

  get #isWanted(): boolean {
    return this.#passes.length + this.#lanes.length + this.#operations.length > 0
  }

  #next(): (() => void) | undefined {
    return this.#firstWithRoom(this.#operations) ?? this.#nextUser()
  }

  #nextUser(): (() => void) | undefined {
    const isPassFirst = this.#last === 'lane' && this.#passes.length > 0 && this.#lanes.length <= MOST_WAITING_LANES
    const lane = isPassFirst ? undefined : this.#firstWithRoom(this.#lanes)
    const next = lane ?? this.#passes.shift()
    if (next) this.#last = lane ? 'lane' : 'pass'
    return next
  }

  #firstWithRoom(waiting: Waiting[]): (() => void) | undefined {
    const at = waiting.findIndex(({ origin }) => this.#isBelowCount(origin))
    return at < 0 ? undefined : waiting.splice(at, 1)[0]?.start
  }
}

/** What an operation of a resume holds while it is sent. */
class HeldSlot implements Slot {
  readonly origin: string
  readonly #slots: Slots
  #isHeld = true

  constructor(slots: Slots, origin: string) {
    this.#slots = slots
    this.origin = origin
  }

  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#slots.end(this)
  }

  tryTake(): boolean {
    if (!this.#slots.hasRoomFor(this.origin)) return false
    void this.take()
    return true
  }

  take(): Promise<void> {
    this.#isHeld = true
    return this.#slots.takeFor(this)
  }
}
