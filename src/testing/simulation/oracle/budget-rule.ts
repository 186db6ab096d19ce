import type { TransportOutcome } from '../../../client/transport/port.ts'
import { isReplayed } from '../../../protocol/header-names.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Sent } from '../wire.ts'
import type { Violation } from './oracle.ts'

/** Statuses below 500 with which a server asks to come later. */
const OVERLOADED = [408, 425, 429]
const RESERVE_PER_SECOND = 0.1

export interface BudgetTerms {
  /** What a new client has for each origin. */
  readonly tokens: number
  /** What a success adds. */
  readonly ratio: number
  /** An attempt without an answer counts as failed after this. */
  readonly attemptTimeoutMs: number
  /** When its process has started. */
  readonly since: number
}

/** What one client has paid to one origin, and what it has earned there. */
interface Account {
  paid: number
  earned: number
}

type Kind = 'call' | 'retry' | 'kept'

/**
 * P6, for one client: an account of its own for each origin. The first attempt of a call is free, every other request costs a
 * token as it leaves; a kept operation gets it back if its first attempt does not fail.
 */
export class BudgetRule {
  readonly #terms: BudgetTerms
  readonly #accounts = new Map<string, Account>()
  /** First attempts that calls have not made yet, by label. */
  readonly #free = new Map<string, number>()
  /** Keys that were claimed and not sent since. */
  readonly #claimed = new Set<string>()
  readonly #kept = new Map<number, number>()
  /** At each origin: an explicit resume tries one operation in any case. */
  #extra = 0

  constructor(terms: BudgetTerms) {
    this.#terms = terms
  }

  calls(label: string): void {
    this.#free.set(label, (this.#free.get(label) ?? 0) + 1)
  }

  /** An explicit resume, or a call that begins again because its journal failed it. */
  begins(): void {
    this.#extra++
  }

  claimed(key: string): void {
    this.#claimed.add(key)
  }

  /** `elapsedMs`: by the clock of its process. */
  leaves(sent: Sent, elapsedMs: number): Violation | undefined {
    const kind = this.#kindOf(sent)
    if (kind === 'call') return undefined
    if (kind === 'kept') this.#kept.set(sent.number, elapsedMs)
    const account = this.#accountOf(sent)
    account.paid++
    const { tokens, since } = this.#terms
    const reserve = ((elapsedMs - since) / 1000) * RESERVE_PER_SECOND
    const allowed = tokens + this.#extra + account.earned + reserve
    if (account.paid <= allowed + 1e-6) return undefined
    const paid = `${account.paid} retries and kept operations are unpaid`
    return ['P6', `request ${sent.number} leaves, and ${paid}; the budget of its origin is ${allowed.toFixed(2)}`]
  }

  ended(sent: Sent, outcome: TransportOutcome, elapsedMs: number): void {
    const account = this.#accountOf(sent)
    if (isSuccess(outcome)) account.earned += this.#terms.ratio
    const leftAt = this.#kept.get(sent.number)
    if (leftAt !== undefined && !this.#isFailed(outcome, elapsedMs - leftAt)) account.paid--
    this.#kept.delete(sent.number)
  }

  #kindOf({ label, key }: Sent): Kind {
    const free = this.#free.get(label) ?? 0
    const isClaimed = this.#claimed.delete(key)
    if (free === 0) return isClaimed ? 'kept' : 'retry'
    this.#free.set(label, free - 1)
    return 'call'
  }

  /** Aborted before its time was over, it says nothing about the server. */
  #isFailed(outcome: TransportOutcome, tookMs: number): boolean {
    if (outcome.kind === 'fault' && outcome.code === 'aborted') return tookMs >= this.#terms.attemptTimeoutMs
    return !isSuccess(outcome)
  }

  #accountOf({ url }: Sent): Account {
    const { origin } = new URL(url)
    const account = this.#accounts.get(origin) ?? { paid: 0, earned: 0 }
    this.#accounts.set(origin, account)
    return account
  }
}

/** Does the server do its work? What it says is another matter. */
function isSuccess(outcome: TransportOutcome): boolean {
  if (outcome.kind === 'fault' || outcome.status >= 500) return false
  const isFinal = isReplayed(outcome.headers) || headerValue(outcome.headers, 'do-not-retry') !== undefined
  return isFinal || !OVERLOADED.includes(outcome.status)
}
