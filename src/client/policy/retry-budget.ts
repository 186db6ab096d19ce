import { refuse } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'

/**
 * A token bucket per origin. A first attempt deposits, a retry takes a token; a resumed operation's first
 * attempt borrows one and gives it back unless it fails in a retryable way. `now` is epoch milliseconds.
 */
export interface RetryBudget {
  /** A first attempt was made. */
  deposit(origin: string, now: number): void
  /** Takes one token if there is one. */
  take(origin: string, now: number): boolean
  /** Gives a borrowed token back. */
  giveBack(origin: string, now: number): void
  /** How many tokens there are, with fractions. */
  level(origin: string, now: number): number
  /** Milliseconds until the reserve has brought a whole token; 0 = there is one; Infinity = never. */
  waitMs(origin: string, now: number): number
}

export interface BudgetOptions {
  /** What a first attempt adds to the bucket. Default 0.1: retries stay within a tenth of the traffic. */
  readonly ratio?: number | undefined
  /** How much the bucket holds, and starts with. Default 10. */
  readonly burst?: number | undefined
  /** What trickles in, so that a quiet client can still retry. Default 0.1 per second. */
  readonly reservePerSecond?: number | undefined
}

/** Shared by every copy of the package, so that a budget can be shared between them. */
const BRAND = Symbol.for('holdfast.retry-budget')

/** Tokens are counted in whole millionths: fractions added up a million times still make the exact sum. */
const TOKEN = 1_000_000
/** Keeps every sum of millionths an exact integer. */
const MOST_TOKENS = 1_000_000
/** A bucket is small, but a crawler meets origins without end. */
const MOST_ORIGINS = 1000

interface Bucket {
  /** Millionths of a token. */
  amount: number
  /** What has trickled in and is not yet a whole millionth, in thousandths of one. */
  carry: number
  /** Up to when the trickle is counted. */
  at: number
}

/** A budget to share between clients. */
export function createRetryBudget(options?: BudgetOptions): RetryBudget {
  return new OriginBuckets(resolveBudget(options))
}

export function isRetryBudget(value: unknown): value is RetryBudget {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true
}

type Amounts = { readonly [Name in keyof BudgetOptions]-?: number }

function resolveBudget(options: BudgetOptions | undefined): Amounts {
  return readOptions('budget', options, {
    ratio: [0.1, checkAmount],
    burst: [10, checkAmount],
    reservePerSecond: [0.1, checkAmount],
  })
}

function checkAmount(option: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MOST_TOKENS) return value
  return refuse(option, `a number from 0 to ${MOST_TOKENS}`, value)
}

class OriginBuckets implements RetryBudget {
  readonly #deposit: number
  readonly #burst: number
  /** Millionths per second, which is thousandths of a millionth per millisecond. */
  readonly #trickle: number
  /** An origin that is not in here has a full bucket. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: Amounts) {
    this.#deposit = Math.round(options.ratio * TOKEN)
    this.#burst = Math.round(options.burst * TOKEN)
    this.#trickle = Math.round(options.reservePerSecond * TOKEN)
    Object.defineProperty(this, BRAND, { value: true })
  }

  deposit(origin: string, now: number): void {
    this.#add(origin, now, this.#deposit)
  }

  take(origin: string, now: number): boolean {
    const bucket = this.#current(origin, now) ?? this.#open(origin, now)
    if (bucket.amount < TOKEN) return false
    bucket.amount -= TOKEN
    return true
  }

  giveBack(origin: string, now: number): void {
    this.#add(origin, now, TOKEN)
  }

  level(origin: string, now: number): number {
    return (this.#current(origin, now)?.amount ?? this.#burst) / TOKEN
  }

  waitMs(origin: string, now: number): number {
    if (this.#burst < TOKEN) return Number.POSITIVE_INFINITY
    const bucket = this.#current(origin, now)
    if (!bucket || bucket.amount >= TOKEN) return 0
    const missing = (TOKEN - bucket.amount) * 1000 - bucket.carry
    // By zero it is Infinity: nothing trickles in.
    return Math.ceil(missing / this.#trickle)
  }

  #add(origin: string, now: number, amount: number): void {
    const bucket = this.#current(origin, now)
    if (bucket) this.#fill(bucket, bucket.amount + amount)
  }

  /** The bucket with everything that has trickled in by now. */
  #current(origin: string, now: number): Bucket | undefined {
    const bucket = this.#buckets.get(origin)
    if (bucket) this.#advance(bucket, now)
    return bucket
  }

  #advance(bucket: Bucket, now: number): void {
    const elapsed = Math.floor(now - bucket.at)
    // A clock that was set back brings nothing and takes nothing; counting goes on from there.
    if (!(elapsed > 0)) {
      if (elapsed < 0) bucket.at = now
      return
    }
    bucket.at += elapsed
    const thousandths = bucket.carry + elapsed * this.#trickle
    bucket.carry = thousandths % 1000
    this.#fill(bucket, bucket.amount + Math.floor(thousandths / 1000))
  }

  #fill(bucket: Bucket, amount: number): void {
    bucket.amount = Math.min(this.#burst, amount)
    if (bucket.amount === this.#burst) bucket.carry = 0
  }

  #open(origin: string, now: number): Bucket {
    if (this.#buckets.size >= MOST_ORIGINS) this.#makeRoom(now)
    const bucket = { amount: this.#burst, carry: 0, at: now }
    this.#buckets.set(origin, bucket)
    return bucket
  }

  /** Dropping a full bucket forgets nothing. Only where none is full does the fullest go. */
  #makeRoom(now: number): void {
    let fullest: [origin: string, amount: number] = ['', -1]
    for (const [origin, bucket] of this.#buckets) {
      this.#advance(bucket, now)
      if (bucket.amount === this.#burst) this.#buckets.delete(origin)
      else if (bucket.amount > fullest[1]) fullest = [origin, bucket.amount]
    }
    if (this.#buckets.size >= MOST_ORIGINS) this.#buckets.delete(fullest[0])
  }
}
