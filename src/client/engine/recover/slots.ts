import { type Clock, momentOf, startBackgroundTimer } from '../../../foundation/clock.ts'
import type { Slot } from '../run/slot.ts'

/**
 * A pass looks for operations in the order of acceptance; a lane asks for its next operation; an operation that has waited
 * goes on.
 */
type SlotUser = 'pass' | HeldBy
type HeldBy = 'lane' | 'operation'

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
  readonly #passes: (() => void)[] = []
  readonly #waiting: Readonly<Record<HeldBy, Waiting[]>> = { lane: [], operation: [] }
  /** Of passes and lanes. */
  #last: SlotUser = 'lane'
  #cancelTimer: (() => void) | undefined

  constructor(count: number, clock: Clock) {
    this.#count = count
    this.#clock = clock
    this.#free = count
  }

  /** Resolves when a pass has a slot, for operations of any origin. */
  take(): Promise<void> {
    if (this.#free === 0) return this.#wait((start) => this.#passes.push(start))
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

  /** A slot that a pass has taken is for operations of this origin. */
  hold(origin: string): HeldSlot {
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

  takeFor(slot: HeldSlot, user: HeldBy): Promise<void> {
    if (!this.hasRoomFor(slot)) return this.#wait((start) => this.#waiting[user].push({ slot, start }))
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
    return this.#passes.length + this.#waiting.lane.length + this.#waiting.operation.length > 0
  }

  #next(): (() => void) | undefined {
    return (
      this.#nextOf('operation') ?? (this.#isTurnOfLanes ? (this.#nextOf('lane') ?? this.#nextPass()) : this.#nextPass())
    )
  }

  get #isTurnOfLanes(): boolean {
    const lanes = this.#waiting.lane.length
    return lanes > MOST_WAITING_LANES || this.#passes.length === 0 || (lanes > 0 && this.#last === 'pass')
  }

  #nextPass(): (() => void) | undefined {
    const start = this.#passes.shift()
    if (start) this.#last = 'pass'
    return start
  }

  #nextOf(user: HeldBy): (() => void) | undefined {
    const queue = this.#waiting[user]
    const at = queue.findIndex(({ slot }) => this.#isBelowCount(slot.origin))
    if (at < 0) return undefined
    const [{ slot, start }] = queue.splice(at, 1) as [Waiting]
    if (user === 'lane') this.#last = user
    return () => {
      this.begin(slot)
      start()
    }
  }
}

/** What an operation of a resume holds while it is sent, and after it those behind it in its lane. */
export class HeldSlot implements Slot {
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

  take(user: HeldBy = 'operation'): Promise<void> {
    this.#isHeld = true
    return this.#slots.takeFor(this, user)
  }
}
