import { isLateCopy, type SentFact } from './facts.ts'
import { labelOf, type Shadow } from './shadow.ts'

interface Done {
  /** When the request left that did it. */
  readonly leftAt: number
  readonly at: number
  readonly isLateCopy: boolean
}

/** What was done by now, by key and operation: a key may have had another operation before. */
export class EffectAccount {
  readonly #now: () => number
  readonly #times = new Map<string, readonly Done[]>()
  readonly #labels = new Set<string>()

  constructor(now: () => number) {
    this.#now = now
  }

  done(key: string, label: string, by: SentFact | undefined): void {
    const which = `${key} ${label}`
    const at = this.#now()
    const done = { leftAt: by?.at ?? 0, at, isLateCopy: isLateCopy(by, at) }
    this.#times.set(which, [...(this.#times.get(which) ?? []), done])
    this.#labels.add(label)
  }

  isDone(label: string): boolean {
    return this.#labels.has(label)
  }

  of(key: string, shadow: Shadow | undefined): number {
    return this.#timesOf(key, shadow).length
  }

  inThisLife(key: string, shadow: Shadow | undefined): number {
    return this.#ofThisLife(key, shadow).length
  }

  /** By then, and so that its client can know that it may have been done. */
  knowable(key: string, shadow: Shadow | undefined, until = Number.POSITIVE_INFINITY): number {
    return this.#ofThisLife(key, shadow).filter((done) => done.at <= until && !done.isLateCopy).length
  }

  #ofThisLife(key: string, shadow: Shadow | undefined): readonly Done[] {
    return this.#timesOf(key, shadow).filter(({ leftAt }) => leftAt >= (shadow?.appendedAt ?? 0))
  }

  #timesOf(key: string, shadow: Shadow | undefined): readonly Done[] {
    return (shadow && this.#times.get(`${key} ${labelOf(shadow)}`)) ?? []
  }
}
