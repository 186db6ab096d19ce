import { createHash } from 'node:crypto'
import { hasId, mayGiveUp } from '../support/child-hunted.ts'
import { type Claim, isFalse } from '../support/claim.ts'
import type { CountingReport } from '../support/counting-server.ts'

export interface Verdict {
  readonly posted: number
  readonly accepted: number
  /** Accepted, and not done. */
  readonly lost: number
  /** Done more than once, under one key or under two. */
  readonly doubled: number
  /** Keys that came with more than one body. */
  readonly changed: number
  /** Accepted, and no handler was ever told. */
  readonly untold: number
  /** Accepted, and told to have ended otherwise than well, though it was not to be given up. */
  readonly failed: number
  /** How often callers and handlers were told of an effect, and how often that was not true. */
  readonly claims: number
  readonly falseClaims: number
}

export interface Heard extends Claim {
  readonly is: string
  readonly number?: number
  readonly key?: string
  readonly status?: string
}

/** What the hunters know from the outside: what was posted, accepted and told. */
export class Ledger {
  readonly #open: number[] = []
  readonly #accepted = new Map<number, string>()
  readonly #told = new Map<number, Set<string>>()
  readonly #claims: (Claim & { readonly number: number })[] = []
  #wanted = 0
  #posted = 0

  constructor(operations: number) {
    this.want(operations)
  }

  /** So many more are to be accepted. */
  want(operations: number): void {
    this.#wanted += operations
    for (let count = 0; count < operations; count++) this.#open.push(++this.#posted)
  }

  get isDone(): boolean {
    return this.#accepted.size >= this.#wanted
  }

  get progress(): string {
    return `${this.#accepted.size} of ${this.#wanted} accepted, ${this.#told.size} told`
  }

  next(): number | undefined {
    return this.#open.shift()
  }

  /**
   * Their process was killed, or gave them up. Only an id makes it safe to post one again; without, what was not heard of may
   * or may not have been accepted, and a new one takes its place.
   */
  giveBack(numbers: Iterable<number>): void {
    for (const number of numbers) {
      if (hasId(number)) this.#open.push(number)
      else if (!this.#accepted.has(number)) this.#open.push(++this.#posted)
    }
  }

  hear({ is, number, key, status, ...claim }: Heard): void {
    if (number === undefined) return
    // What has an id may be called again by another process, and done after all.
    if (claim.effect !== undefined && !hasId(number)) this.#claims.push({ number, ...claim })
    if (is === 'accepted' && key !== undefined) this.#accepted.set(number, key)
    if (is === 'handled') this.#told.set(number, (this.#told.get(number) ?? new Set()).add(String(status)))
  }

  /** The server knows bodies and keys; that one body is one operation is known only here. */
  judge(report: CountingReport): Verdict {
    const effects = effectsByBody(report)
    const numbers = [...this.#accepted.keys()]
    const done = (number: number): number => effects.get(bodyHash(number)) ?? 0
    const ended = (number: number): string[] => [...(this.#told.get(number) ?? [])]
    const gaveUp = (number: number): boolean => mayGiveUp(number) && ended(number).includes('failed')
    return {
      posted: this.#posted,
      accepted: numbers.length,
      lost: numbers.filter((number) => done(number) === 0 && !gaveUp(number)).length,
      doubled: [...effects.values()].filter((count) => count > 1).length,
      changed: Object.values(report.operations).filter(({ bodies }) => bodies.length > 1).length,
      untold: numbers.filter((number) => !this.#told.has(number)).length,
      failed: numbers.filter((number) => ended(number).some((one) => one !== 'succeeded') && !gaveUp(number)).length,
      claims: this.#claims.length,
      falseClaims: this.#claims.filter((claim) => isFalse(claim, done(claim.number))).length,
    }
  }
}

function effectsByBody({ operations }: CountingReport): Map<string, number> {
  const effects = new Map<string, number>()
  for (const { bodies, effects: count } of Object.values(operations)) {
    const [body = ''] = bodies
    if (count > 0) effects.set(body, (effects.get(body) ?? 0) + count)
  }
  return effects
}

function bodyHash(number: number): string {
  return createHash('sha256').update(JSON.stringify({ number })).digest('hex')
}
