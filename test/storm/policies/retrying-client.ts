import type { Random } from '../../../src/foundation/random.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policy.ts'

/** How long to wait before the retry with this number (from 0). */
export type Backoff = (retry: number, random: Random) => number

/** What the operations of one process share: may this retry be made? */
export interface Allowance {
  /** A request failed. */
  failed?(): void
  /** Another try is wanted. */
  mayRetry(): boolean
  /** An operation has succeeded, after a retry or without. */
  succeeded(after: 'retry' | 'first'): void
}

/** What stands in front of every request of one process. */
export interface Gate {
  admits(now: number): boolean
  learn(end: 'success' | 'failure', now: number): void
}

export interface RetryRules {
  readonly name: string
  /** Retries after the first attempt. */
  readonly retries: number
  /** Made anew for each operation: some remember the delay before. */
  readonly backoff: () => Backoff
  readonly allowance?: (() => Allowance) | undefined
  readonly gate?: (() => Gate) | undefined
  /** Waits at least as long as `Retry-After` asks. */
  readonly heedsRetryAfter?: boolean
}

/** A loop around a request, as most libraries have it: so many retries, with a delay by formula. */
export function retryingPolicy(rules: RetryRules): Policy {
  return { name: rules.name, newClient: (world) => new RetryingClient(rules, world) }
}

interface Concluded {
  readonly end: AttemptEnd
  readonly retry: number
  readonly backoff: Backoff
  readonly floorMs: number | undefined
}

class RetryingClient implements ClientModel {
  readonly #rules: RetryRules
  readonly #world: World
  readonly #allowance: Allowance | undefined
  readonly #gate: Gate | undefined

  constructor(rules: RetryRules, world: World) {
    this.#rules = rules
    this.#world = world
    this.#allowance = rules.allowance?.()
    this.#gate = rules.gate?.()
  }

  submit(operation: Operation): void {
    this.#try(operation, 0, this.#rules.backoff())
  }

  #try(operation: Operation, retry: number, backoff: Backoff): void {
    if (this.#gate && !this.#gate.admits(this.#world.now)) this.#failed(operation, { retry, backoff, floorMs: 0 })
    else this.#world.send(operation, (end, floorMs) => this.#conclude(operation, { end, retry, backoff, floorMs }))
  }

  #conclude(operation: Operation, { end, retry, backoff, floorMs = 0 }: Concluded): void {
    const world = this.#world
    this.#gate?.learn(end === 'success' ? 'success' : 'failure', world.now)
    if (end === 'success') {
      this.#allowance?.succeeded(retry > 0 ? 'retry' : 'first')
      world.settle(operation, 'succeeded')
    } else {
      // To most of them a do-not-retry verdict is one more 503.
      this.#allowance?.failed?.()
      this.#failed(operation, { retry, backoff, floorMs: this.#rules.heedsRetryAfter ? floorMs : 0 })
    }
  }

  #failed(operation: Operation, { retry, backoff, floorMs = 0 }: Omit<Concluded, 'end'>): void {
    const world = this.#world
    const allowed = retry < this.#rules.retries && (this.#allowance?.mayRetry() ?? true)
    const again = (): void => this.#try(operation, retry + 1, backoff)
    if (allowed) world.after(Math.max(floorMs, backoff(retry, world.random)), again)
    else world.settle(operation, 'failed')
  }
}
