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
  /** Their own cursors are done: the first one, which may be behind them, must not meet them again. */
  readonly #swept = new Set<string>()
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
      if (!this.#gates.isCrowded(origin)) this.#finish(origin)
    }
    if (!this.#isThrough) return { after: this.#after, exceptOrigins: this.#passedOver(held) }
    return this.#ofOrigins.size > 0 ? 'later' : 'over'
  }

  #set(origin: string): void {
    if (this.#ofOrigins.has(origin) || this.#swept.has(origin)) return
    if (this.#gates.isCrowded(origin)) this.#ofOrigins.set(origin, this.#after)
  }

  #finish(origin: string): void {
    this.#ofOrigins.delete(origin)
    this.#swept.add(origin)
  }

  #passedOver(held: readonly string[]): string[] {
    return [...new Set([...held, ...this.#ofOrigins.keys(), ...this.#swept])]
  }

  /** The last place that a claim of this stretch has come to. */
  reach({ after, origins: [origin] = [] }: Stretch, last: number): void {
    if (origin === undefined) {
      this.#isThrough = last === after
      this.#after = last
    } else if (last === after) this.#finish(origin)
    else this.#ofOrigins.set(origin, last)
  }
}
