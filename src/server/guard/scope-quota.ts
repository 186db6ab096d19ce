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

interface Counted {
  count: number
  readonly countedAt: number
}

/**
 * Keeps one scope from filling the table. Approximate, so that it is cheap: keys are counted once a minute, and claims of
 * this process are added in between.
 */
export class ScopeQuota {
  readonly #quota: Quota
  readonly #counted = new Map<string, Counted>()
  readonly #counting = new Map<string, Promise<Counted>>()

  constructor(quota: Quota) {
    this.#quota = quota
  }

  async hasRoom(guard: GuardOptions, scope: string): Promise<boolean> {
    const limit = this.#limitOf(scope)
    return limit === undefined || (await this.#current(guard, scope, limit)).count < limit
  }

  /** This process has made an entry. */
  added(scope: string): void {
    const counted = this.#counted.get(scope)
    if (counted) counted.count++
  }

  #limitOf(scope: string): number | undefined {
    const limit: unknown = typeof this.#quota === 'function' ? this.#quota(scope) : this.#quota
    if (limit === undefined || (Number.isInteger(limit) && Number(limit) >= 0)) return limit as number | undefined
    throw new ConfigurationError('The option `quota` must give a whole number of at least 0 for a scope, or undefined')
  }

  async #current(guard: GuardOptions, scope: string, limit: number): Promise<Counted> {
    const known = this.#counted.get(scope)
    const goodForMs = known && known.count >= limit ? FULL_RECOUNT_MS : RECOUNT_MS
    if (known && guard.clock.now() - known.countedAt < goodForMs) return known
    // Requests that come at the same time share one count.
    const counting = this.#counting.get(scope) ?? this.#count(guard, scope, limit)
    this.#counting.set(scope, counting)
    return counting.finally(() => this.#counting.delete(scope))
  }

  async #count(guard: GuardOptions, scope: string, limit: number): Promise<Counted> {
    const count = await withinStoreTime(guard, guard.store.count(scope, limit))
    const counted = { count, countedAt: guard.clock.now() }
    // As the last one of the map, whose first one is the oldest.
    this.#counted.delete(scope)
    this.#counted.set(scope, counted)
    const [oldest] = this.#counted.keys()
    if (this.#counted.size > MOST_SCOPES && oldest !== undefined) this.#counted.delete(oldest)
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
    const entry = await withinStoreTime(guard, guard.store.find(scope, key))
    return entry ? undefined : 'quota-exceeded'
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    return 'unavailable'
  }
}
