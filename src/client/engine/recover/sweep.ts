import type { Gates } from '../../gate/gates.ts'

/** What is claimed next: behind `after`, of these origins only or of all but some. */
export interface Stretch {
  readonly after: number
  readonly origins?: readonly string[]
  readonly exceptOrigins: readonly string[]
}

/**
 * How far a pass over the journal is: one cursor for everything, and one for each origin that had no room at its gate when
 * the first cursor came by. So nothing is claimed twice in a pass, and no origin holds up another.
 */
export class Sweep {
  readonly #gates: Pick<Gates, 'heldOrigins' | 'isCrowded'>
  readonly #ofOrigins = new Map<string, number>()
  #after = 0
  #isThrough = false

  constructor(gates: Pick<Gates, 'heldOrigins' | 'isCrowded'>) {
    this.#gates = gates
  }

  /** `later`: only for origins that have no room now. */
  next(): Stretch | 'later' | 'over' {
    const held = this.#gates.heldOrigins()
    if (!this.#isThrough) for (const origin of held) this.#set(origin)
    for (const [origin, after] of this.#ofOrigins) {
      if (!held.includes(origin)) return { after, origins: [origin], exceptOrigins: [] }
      // Not before long: a later pass has it.
      if (!this.#gates.isCrowded(origin)) this.#ofOrigins.delete(origin)
    }
    if (!this.#isThrough) return { after: this.#after, exceptOrigins: [...held, ...this.#ofOrigins.keys()] }
    return this.#ofOrigins.size > 0 ? 'later' : 'over'
  }

  #set(origin: string): void {
    if (this.#gates.isCrowded(origin) && !this.#ofOrigins.has(origin)) this.#ofOrigins.set(origin, this.#after)
  }

  /** The last place that a claim of this stretch has come to. */
  reach({ after, origins: [origin] = [] }: Stretch, last: number): void {
    if (origin === undefined) {
      this.#isThrough = last === after
      this.#after = last
    } else if (last === after) this.#ofOrigins.delete(origin)
    else this.#ofOrigins.set(origin, last)
  }
}
