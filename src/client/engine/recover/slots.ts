import type { Slot } from '../run/slot.ts'

/**
 * A pass looks for operations in the order of acceptance; a lane asks for its next operation; an operation that has waited
 * goes on.
 */
export type SlotUser = 'pass' | 'lane' | 'operation'

/** If more lanes wait than this, no pass adds further ones: memory does not grow with the number of lanes. */
const MOST_WAITING_LANES = 1000

/**
 * The slots of a resume: how many operations it sends at once. If both wait, passes and lanes get every second slot,
 * each kind in the order of arrival: neither a busy lane nor a long backlog starves the other. An operation that waits for its
 * origin or its next attempt has none meanwhile.
 */
export class Slots {
  #free: number
  readonly #waiting: Readonly<Record<SlotUser, (() => void)[]>> = { pass: [], lane: [], operation: [] }
  /** Of passes and lanes. */
  #last: SlotUser = 'lane'

  /** As an operation uses them that has one. */
  readonly ofOperation: Slot = {
    release: () => this.release(),
    tryTake: () => this.tryTake(),
    take: () => this.take('operation'),
  }

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when the caller has a slot. */
  take(user: SlotUser): Promise<void> {
    // Nobody waits while a slot is free.
    if (this.#free === 0) return new Promise((resolve) => void this.#waiting[user].push(resolve))
    this.#free--
    return Promise.resolve()
  }

  /** False: none is free. */
  tryTake(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /** Takes slots that are free now, up to `most`; returns how many these are. */
  takeFree(most: number): number {
    const count = Math.min(most, this.#free)
    this.#free -= count
    return count
  }

  release(count = 1): void {
    for (let released = 0; released < count; released++) {
      const next = this.#nextUser()
      if (next !== 'operation') this.#last = next
      const start = this.#waiting[next].shift()
      if (start) start()
      else this.#free++
    }
  }

  #nextUser(): SlotUser {
    const { pass, lane, operation } = this.#waiting
    if (operation.length > 0) return 'operation'
    if (pass.length === 0 || lane.length > MOST_WAITING_LANES) return 'lane'
    return lane.length === 0 || this.#last === 'lane' ? 'pass' : 'lane'
  }
}
