import type { ClaimedRecord } from '../../journal/record-keeper.ts'

interface Left {
  readonly claimed: ClaimedRecord
  /** How often the namespace had been forgotten by then: since then, the operation is gone. */
  readonly forgets: number
}

/**
 * The lanes that a resume works through, one operation of each after the other. Between two of them the next one is free for a
 * moment, and a pass may claim it: the pass leaves such an operation to the turn of its lane, and looks further. A pass that sent
 * it in its own turn would come to what is behind a long lane only when that lane is through.
 */
export class LanesUnderway {
  readonly #left = new Map<string, Left[]>()

  begin(lane: string): void {
    this.#left.set(lane, [])
  }

  /** False: nobody works through its lane here. */
  leave(claimed: ClaimedRecord, forgets: number): boolean {
    const { lane, key } = claimed.record
    const left = lane === undefined ? undefined : this.#left.get(lane)
    if (lane === undefined || !left) return false
    // If its lease has lapsed meanwhile, it may have been left before.
    this.#left.set(lane, [...left.filter((other) => other.claimed.record.key !== key), { claimed, forgets }])
    return true
  }

  /** The first operation that was left to this lane. */
  take(lane: string, forgets: number): ClaimedRecord | undefined {
    const left = (this.#left.get(lane) ?? []).filter((one) => one.forgets === forgets)
    const first = left.shift()
    if (first) this.#left.set(lane, left)
    return first?.claimed
  }

  /** The same; if there is none, the lane is not worked through any more. */
  takeOrEnd(lane: string, forgets: number): ClaimedRecord | undefined {
    const taken = this.take(lane, forgets)
    if (!taken) this.#left.delete(lane)
    return taken
  }
}
