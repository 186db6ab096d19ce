import { type Clock, momentOf, startBackgroundTimer } from '../../../foundation/clock.ts'
import type { Slot } from '../run/slot.ts'

/**
 * A pass looks for operations in the order of acceptance; a lane asks for its next operation; an operation that has waited
 * goes on.
 */
export type SlotUser = 'pass' | 'lane'

/** If more lanes wait than this, no pass adds further ones: memory does not grow with the number of lanes. */
const MOST_WAITING_LANES = 1000
/** A request without an answer for so long gives its slot to others, if they wait for one. */
export const LONG_MS = 500

interface Waiting {
  readonly slot: HeldSlot
  readonly start: () => void
}

/**
 * The slots of a resume: how many operations it sends at once. If both wait, passes and lanes get every second slot,
 * each kind in the order of arrival: neither a busy lane nor a long backlog starves the other. An operation that waits for its
 * origin or its next attempt has none meanwhile.
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
  readonly #waiting: Readonly<Record<SlotUser, (() => void)[]>> = { pass: [], lane: [] }
  readonly #operations: Waiting[] = []
  #last: SlotUser = 'lane'
  #cancelTimer: (() => void) | undefined

  constructor(count: number, clock: Clock) {
    this.#count = count
    this.#clock = clock
    this.#free = count
  }

  /** Resolves when the caller has a slot. */
  take(user: SlotUser): Promise<void> {
    // Nobody waits while a slot is free.
    if (this.#free === 0) return this.#wait((start) => this.#waiting[user].push(start))
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

  hasRoomFor({ origin }: HeldSlot): boolean {
    return this.#free > 0 && this.#isBelowCount(origin)
  }

  #isBelowCount(origin: string): boolean {
    return (this.#ofOrigins.get(origin)?.all ?? 0) < this.#count
  }

  takeFor(slot: HeldSlot): Promise<void> {
    if (!this.hasRoomFor(slot)) return this.#wait((start) => this.#operations.push({ slot, start }))
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
    return this.#waiting.pass.length + this.#waiting.lane.length + this.#operations.length > 0
  }

  #next(): (() => void) | undefined {
    const at = this.#operations.findIndex(({ slot }) => this.#isBelowCount(slot.origin))
    if (at < 0) return this.#nextUser()
    const [{ slot, start }] = this.#operations.splice(at, 1) as [Waiting]
    return () => {
      this.begin(slot)
      start()
    }
  }

  #nextUser(): (() => void) | undefined {
    const { pass, lane } = this.#waiting
    const isLanes = lane.length > MOST_WAITING_LANES || pass.length === 0 || (lane.length > 0 && this.#last === 'pass')
    this.#last = isLanes ? 'lane' : 'pass'
    return this.#waiting[this.#last].shift()
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
    if (!this.#slots.hasRoomFor(this)) return false
    void this.take()
    return true
  }

  take(): Promise<void> {
    this.#isHeld = true
    return this.#slots.takeFor(this)
  }
}
