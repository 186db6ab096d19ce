import type { TransportOutcome } from '../../../client/transport/port.ts'
import { isReplayed } from '../../../protocol/header-names.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Violation } from './oracle.ts'

const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530])
const RATIO = 0.1
const RESERVE_PER_SECOND = 0.1

/** What one client may spend on requests that are not first ones: an account of its own beside the client's. */
export class BudgetRule {
  readonly #burst: number
  readonly #reservePerSecond: number
  #answered = 0
  #spent = 0
  #begun = 0
  readonly #since: number

  /** Each origin has a budget of its own. */
  constructor({ burst, origins, since }: { readonly burst: number; readonly origins: number; readonly since: number }) {
    this.#burst = burst * origins
    this.#reservePerSecond = RESERVE_PER_SECOND * origins
    this.#since = since
  }

  /** A call, or one that begins again because its journal failed it: its first request costs nothing. */
  begins(): void {
    this.#begun++
  }

  /** Every other request that failed has cost a token. Requests that the client aborted don't count. */
  requestEnded(outcome: TransportOutcome, elapsedMs: number): Violation | undefined {
    if (!failed(outcome)) {
      if (outcome.kind === 'response') this.#answered++
      return undefined
    }
    this.#spent++
    const reserve = ((elapsedMs - this.#since) / 1000) * this.#reservePerSecond
    const allowed = this.#burst + this.#begun + RATIO * this.#answered + reserve
    if (this.#spent <= allowed + 1e-6) return undefined
    return [
      'P6',
      `${this.#spent} failed requests of ${this.#begun} calls after ${this.#answered} answers; the budget is ${allowed.toFixed(2)}`,
    ]
  }
}

function failed(outcome: TransportOutcome): boolean {
  if (outcome.kind === 'fault') return outcome.code !== 'aborted'
  if (isReplayed(outcome.headers) || headerValue(outcome.headers, 'do-not-retry')) return false
  return RETRIED.has(outcome.status)
}
