import type { TransportOutcome } from '../../../client/transport/port.ts'
import { isReplayed } from '../../../protocol/header-names.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Verdict } from './oracle.ts'

const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504])
const RATIO = 0.1
const RESERVE_PER_SECOND = 0.1

/** What one client may spend on requests that are not first ones: an account of its own beside the client's. */
export class BudgetRule {
  readonly #burst: number
  #firsts = 0
  #spent = 0
  #reserve = 0
  #lastNow: number

  constructor(burst: number, now: number) {
    this.#burst = burst
    this.#lastNow = now
  }

  left(attempt: number, now: number): void {
    this.#tick(now)
    if (attempt === 1) this.#firsts++
  }

  /** Every failure of a request that was not a first one has cost a token. Ones that we cut off ourselves tell nothing. */
  learned(attempt: number, outcome: TransportOutcome, now: number): Verdict | undefined {
    this.#tick(now)
    if (attempt === 1 || !failed(outcome)) return undefined
    this.#spent++
    const allowed = this.#burst + RATIO * this.#firsts + this.#reserve
    if (this.#spent <= allowed + 1e-6) return undefined
    return [
      'P6',
      `${this.#spent} failed retries after ${this.#firsts} first attempts; the budget is ${allowed.toFixed(2)}`,
    ]
  }

  /** The reserve follows the clock; a clock that is set back brings nothing and takes nothing. */
  #tick(now: number): void {
    this.#reserve += Math.max(0, ((now - this.#lastNow) / 1000) * RESERVE_PER_SECOND)
    this.#lastNow = now
  }
}

function failed(outcome: TransportOutcome): boolean {
  if (outcome.kind === 'fault') return outcome.code !== 'aborted'
  if (isReplayed(outcome.headers) || headerValue(outcome.headers, 'do-not-retry')) return false
  return RETRIED.has(outcome.status)
}
