import { labelOf, type Shadow } from './shadow.ts'

interface Done {
  readonly leftAt: number
  readonly at: number
}

/** What was done by now, by key and operation: a key may have had another operation before. */
export class EffectAccount {
  readonly #now: () => number
  readonly #times = new Map<string, readonly Done[]>()
  readonly #labels = new Set<string>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** `leftAt`: when the request left that did it. */
  done(key: string, label: string, leftAt: number): void {
    const which = `${key} ${label}`
    this.#times.set(which, [...(this.#times.get(which) ?? []), { leftAt, at: this.#now() }])
    this.#labels.add(label)
  }

  isDone(label: string): boolean {
    return this.#labels.has(label)
  }

  of(key: string, shadow: Shadow | undefined): number {
    return this.#timesOf(key, shadow).length
  }

  inThisLife(key: string, shadow: Shadow | undefined, until = Number.POSITIVE_INFINITY): number {
    return this.#timesOf(key, shadow).filter(({ leftAt, at }) => leftAt >= (shadow?.appendedAt ?? 0) && at <= until)
      .length
  }

  #timesOf(key: string, shadow: Shadow | undefined): readonly Done[] {
    return (shadow && this.#times.get(`${key} ${labelOf(shadow)}`)) ?? []
  }
}
