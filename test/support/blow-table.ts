/** For each blow whether the hunt deals it, or the sentence that says why it can't. */
export type BlowTerms<Blow extends string> = Readonly<Record<Blow, 'dealt' | { readonly never: string }>>

/** How often each blow struck. A blow counts when it has hit something, not when it was meant to. */
export class BlowTable<Blow extends string> {
  readonly #terms: BlowTerms<Blow>
  readonly #counts = new Map<Blow, number>()

  constructor(terms: BlowTerms<Blow>) {
    this.#terms = terms
  }

  struck(blow: Blow, times = 1): void {
    this.#counts.set(blow, this.count(blow) + times)
  }

  count(blow: Blow): number {
    return this.#counts.get(blow) ?? 0
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#dealt.map((blow) => [blow, this.count(blow)]))
  }

  /** Dealt, and not struck so far. */
  get due(): Blow[] {
    return this.#dealt.filter((blow) => this.count(blow) === 0)
  }

  /** Blows of which this hunt has none, each with its reason. */
  get notDealt(): Readonly<Record<string, string>> {
    const reasons = this.#blows.map((blow) => [blow, this.#terms[blow]] as const)
    return Object.fromEntries(reasons.flatMap(([blow, how]) => (how === 'dealt' ? [] : [[blow, how.never]])))
  }

  /**
   * The next blow: one that is still due, as long as there is one, so that a short run has each; after that the dice
   * decide, by weight.
   */
  next(random: () => number, weights: Readonly<Partial<Record<Blow, number>>>): Blow | undefined {
    const due = this.due.filter((blow) => weights[blow] !== undefined)
    if (due.length > 0) return due[Math.floor(random() * due.length)]
    const dealt = this.#dealt.filter((blow) => weights[blow] !== undefined)
    let left = random() * dealt.reduce((sum, blow) => sum + (weights[blow] ?? 0), 0)
    for (const blow of dealt) {
      left -= weights[blow] ?? 0
      if (left < 0) return blow
    }
    return dealt.at(-1)
  }

  get #blows(): Blow[] {
    return Object.keys(this.#terms) as Blow[]
  }

  get #dealt(): Blow[] {
    return this.#blows.filter((blow) => this.#terms[blow] === 'dealt')
  }
}

/** One sentence for each blow that was to strike and did not. */
export function neverStruck(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count === 0)
    .map(([blow]) => `The blow "${blow}" never struck: this run says nothing about it`)
}
