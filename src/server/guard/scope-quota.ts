import { ConfigurationError } from '../../errors/classes.ts'
import type { RefusalReason } from '../admission/refusal.ts'
import type { KeyRequest } from './claim-key.ts'
import { emit } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { withinStoreTime } from './store-call.ts'

/** How many keys a scope may hold; undefined: any number. */
export type Quota = number | ((scope: string) => number | undefined)

const RECOUNT_MS = 60_000
/** A scope that is full is counted again sooner: the reaper, or a release, may have made room. */
const FULL_RECOUNT_MS = 1_000
/** Of more, the counts of the first are forgotten. */
const MOST_SCOPES = 10_000

/**
 * A count takes as long as there are keys to count. While this process has made less than a hundredth of the quota since
 * the last count, it does not count: most scopes never are.
 */
function allowance(limit: number): number {
  return Math.floor(limit / 100)
}

/** A scope with a million keys that is full is counted every ten seconds. */
function fullRecountMs(limit: number): number {
  return Math.max(FULL_RECOUNT_MS, allowance(limit))
}

interface Counted {
  /** As far as this process knows: what was counted, and what it has made since. */
  count: number
  /** Made by this process since the last count. */
  added: number
  countedAt: number
}

export interface QuotaOptions {
  readonly quota: Quota
  /** Called when a scope has used four fifths of it. */
  readonly onNearlyFull?: ((limit: number) => void) | undefined
}

/**
 * Keeps one scope from filling the table. Approximate, so that it is cheap: keys are counted once a minute at most, and
 * claims of this process are added in between.
 */
export class ScopeQuota {
  readonly #options: QuotaOptions
  readonly #counted = new Map<string, Counted>()
  readonly #counting = new Map<string, Promise<Counted>>()

  constructor(options: QuotaOptions) {
    this.#options = options
  }

  async hasRoom(guard: GuardOptions, scope: string): Promise<boolean> {
    const limit = this.#limitOf(scope)
    return limit === undefined || (await this.#current(guard, scope, limit)).count < limit
  }

  /** This process has made an entry. */
  added(scope: string): void {
    const counted = this.#of(scope)
    counted.count++
    counted.added++
  }

  #limitOf(scope: string): number | undefined {
    const { quota } = this.#options
    const limit: unknown = typeof quota === 'function' ? quota(scope) : quota
    if (limit === undefined || limit === Number.POSITIVE_INFINITY) return undefined
    if (Number.isInteger(limit) && Number(limit) >= 0) return limit as number
    throw new ConfigurationError('The option `quota` must give a whole number of at least 0 for a scope, or undefined')
  }

  #of(scope: string): Counted {
    const known = this.#counted.get(scope)
    if (known) return known
    const [oldest] = this.#counted.keys()
    if (this.#counted.size >= MOST_SCOPES && oldest !== undefined) this.#counted.delete(oldest)
    const unknown = { count: 0, added: 0, countedAt: Number.NEGATIVE_INFINITY }
    this.#counted.set(scope, unknown)
    return unknown
  }

  async #current(guard: GuardOptions, scope: string, limit: number): Promise<Counted> {
    const known = this.#of(scope)
    const isFull = known.count >= limit
    const goodForMs = isFull ? fullRecountMs(limit) : RECOUNT_MS
    if (guard.clock.now() - known.countedAt < goodForMs) return known
    if (!isFull && known.added < allowance(limit)) return known
    // Requests that come at the same time share one count.
    const counting = this.#counting.get(scope) ?? this.#count(guard, scope, limit)
    this.#counting.set(scope, counting)
    return counting.finally(() => this.#counting.delete(scope))
  }

  async #count(guard: GuardOptions, scope: string, limit: number): Promise<Counted> {
    const count = await withinStoreTime(guard, () => guard.store.count(scope, limit))
    // As the last one of the map, whose first one is the oldest.
    this.#counted.delete(scope)
    const counted = Object.assign(this.#of(scope), { count, added: 0, countedAt: guard.clock.now() })
    if (count >= limit * 0.8) this.#options.onNearlyFull?.(limit)
    return counted
  }
}

/** Why the request is refused: its key is new, and its scope is full. A retry is served, however full the scope is. */
export async function refusalByQuota(
  guard: GuardOptions,
  { scope, key }: KeyRequest,
): Promise<RefusalReason | undefined> {
  try {
    if (!guard.quota || (await guard.quota.hasRoom(guard, scope))) return undefined
    const entry = await withinStoreTime(guard, () => guard.store.find(scope, key))
    return entry ? undefined : 'quota-exceeded'
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    return 'unavailable'
  }
}
