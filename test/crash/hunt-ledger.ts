import { createHash } from 'node:crypto'
import { hasId, mayGiveUp } from '../support/child-hunted.ts'
import type { Claim } from '../support/claim.ts'
import { ClaimBook, type ServerFacts } from '../support/claim-book.ts'
import type { CountedOperation, CountingReport } from '../support/counting-server.ts'

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
  /** How often callers and handlers were told what, and each claim that was not true, in words. */
  readonly claims: Readonly<Record<string, number>>
  readonly falseClaims: readonly string[]
}

export interface Heard extends Claim {
  readonly is: string
  readonly number?: number
  readonly key?: string
  readonly status?: string
  readonly at?: number
  readonly replayed?: boolean
  readonly mayHaveRepeated?: boolean
}

/** What the hunters know from the outside: what was posted, accepted and told. */
export class Ledger {
  readonly #open: number[] = []
  readonly #accepted = new Map<number, string>()
  readonly #told = new Map<number, Set<string>>()
  readonly #claims = new ClaimBook()
  readonly #calledAt = new Map<number, number>()
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

  get accepted(): number {
    return this.#accepted.size
  }

  get progress(): string {
    return `${this.#accepted.size} of ${this.#wanted} accepted, ${this.#told.size} told`
  }

  next(): number | undefined {
    const number = this.#open.shift()
    if (number !== undefined) this.#calledAt.set(number, Date.now())
    return number
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

  hear({ is, number, key, status, at, ...claim }: Heard): void {
    if (number === undefined) return
    if (claim.effect !== undefined && key !== undefined && at !== undefined) {
      this.#claims.tell({ number, key, at, by: is === 'handled' ? 'handler' : 'caller', status, ...claim })
    }
    if (is === 'accepted' && key !== undefined) this.#accepted.set(number, key)
    if (is === 'handled') this.#told.set(number, (this.#told.get(number) ?? new Set()).add(String(status)))
  }

  /** The server knows bodies and keys; that one body is one operation is known only here. */
  judge(report: CountingReport): Verdict {
    const facts = factsByBody(report)
    const numbers = [...this.#accepted.keys()]
    const factsOf = (number: number): ServerFacts => facts.get(bodyHash(number)) ?? NOTHING
    const done = (number: number): number => factsOf(number).effectsAt.length
    const calledAt = (number: number): number => this.#calledAt.get(number) ?? 0
    const ended = (number: number): string[] => [...(this.#told.get(number) ?? [])]
    const gaveUp = (number: number): boolean => mayGiveUp(number) && ended(number).includes('failed')
    return {
      posted: this.#posted,
      accepted: numbers.length,
      lost: numbers.filter((number) => done(number) === 0 && !gaveUp(number)).length,
      doubled: [...facts.values()].filter(({ effectsAt }) => effectsAt.length > 1).length,
      changed: Object.values(report.operations).filter(({ bodies }) => bodies.length > 1).length,
      untold: numbers.filter((number) => !this.#told.has(number)).length,
      failed: numbers.filter((number) => ended(number).some((one) => one !== 'succeeded') && !gaveUp(number)).length,
      claims: this.#claims.counts,
      // It marks only what it answers from its record.
      falseClaims: this.#claims.falseClaims({ factsOf, calledAt, showsKeys: false }),
    }
  }
}

const NOTHING: ServerFacts = { effectsAt: [], fresh: 0, replayed: 0 }

/** One body is one operation, under whichever keys it came. */
function factsByBody({ operations }: CountingReport): Map<string, ServerFacts> {
  const facts = new Map<string, ServerFacts>()
  for (const one of Object.values(operations)) {
    const [body = ''] = one.bodies
    facts.set(body, together(facts.get(body) ?? NOTHING, one))
  }
  return facts
}

function together(known: ServerFacts, { effectsAt, fresh, replayed }: CountedOperation): ServerFacts {
  return {
    effectsAt: [...known.effectsAt, ...effectsAt],
    fresh: known.fresh + fresh,
    replayed: known.replayed + replayed,
  }
}

function bodyHash(number: number): string {
  return createHash('sha256').update(JSON.stringify({ number })).digest('hex')
}
