import type { Engine } from '../../client/engine/engine.ts'
import type { BudgetLimits } from '../../client/gate/gate-limits.ts'
import type { OriginView } from '../../client/gate/origin-view.ts'
import { type Counted, JournalOrigins } from '../origins/journal-origins.ts'
import type { OriginRow, OriginsPage } from './wire.ts'

/** More pending operations are not counted: each is read. */
const MOST_COUNTED = 1000
const PAGE = 100
const COUNTS_LAST_MS = 5000

interface Seen {
  readonly view: OriginView
  readonly budget: BudgetLimits | false
}

/** What holds requests back, by origin: of this client what its gates do, of all others what the journal knows. */
export class OriginList {
  readonly #engine: Engine
  #pending: Promise<readonly Counted[]> | undefined
  #readAt = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Those in trouble come first. */
  async page(): Promise<OriginsPage> {
    const { options, clock, gates, keeper } = this.#engine
    await keeper.open()
    const now = clock.now()
    const journal = await JournalOrigins.read(keeper.journal, now)
    for (const record of await this.#readPending(now)) journal.count(record)
    const known = [...gates.entries(), ...options.budget.entries()].map(([origin]) => origin)
    const origins = [...new Set([...known, ...journal.origins])].map((origin) => this.#rowOf(origin, journal))
    return { origins: origins.sort((a, b) => rankOf(a) - rankOf(b) || (a.origin < b.origin ? -1 : 1)) }
  }

  #rowOf(origin: string, journal: JournalOrigins): OriginRow {
    const { view, budget } = this.#look(origin, journal) ?? {}
    return {
      origin,
      state: view?.state,
      // What waits at the gate of this client has a runner, which is this client.
      waiting: journal.dueOf(origin) + (this.#engine.gates.find(origin)?.waiting ?? 0),
      inFlight: view?.inFlight ?? journal.heldOf(origin),
      reason: view?.reason,
      budget: view && budget ? { tokens: rounded(view.tokens), burst: budget.burst } : undefined,
      succeededAt: view?.lastSuccessAt,
    }
  }

  /** A gate of this client knows best; of an origin without one, whoever wrote last. */
  #look(origin: string, journal: JournalOrigins): Seen | undefined {
    const { gates, options } = this.#engine
    const state = options.budget.get(origin)
    const stored = journal.gateOf(origin)
    const isStoredNewer = !gates.find(origin) && stored && stored.at > (state?.at ?? 0)
    const view = isStoredNewer ? journal.viewOf(origin) : undefined
    if (view && stored) return { view, budget: stored.limits.budget }
    return state && { view: gates.view(origin), budget: options.budget.limits }
  }

  #readPending(now: number): Promise<readonly Counted[]> {
    if (this.#pending === undefined || now - this.#readAt >= COUNTS_LAST_MS) {
      this.#readAt = now
      this.#pending = this.#listPending()
      this.#pending.catch(() => {
        this.#pending = undefined
      })
    }
    return this.#pending
  }

  /** Without their bodies, of which only those of a page are in memory. */
  async #listPending(): Promise<readonly Counted[]> {
    const { keeper, options } = this.#engine
    const found: Counted[] = []
    for (let after = 0, more = true; more && found.length < MOST_COUNTED; ) {
      const page = await keeper.list({ namespace: options.namespace, status: 'pending', after, limit: PAGE })
      for (const { record } of page.records) {
        const { lease, dueAt, notBefore, heldBy, request } = record
        found.push({ lease, dueAt, notBefore, heldBy, request: { origin: request.origin } })
      }
      after = page.last
      more = page.more
    }
    return found
  }
}

const RANKS = ['open', 'failing', 'healthy', undefined]

function rankOf({ state, reason }: OriginRow): number {
  return 2 * RANKS.indexOf(state) + (reason === undefined ? 1 : 0)
}

function rounded(tokens: number): number {
  return Math.round(tokens * 10) / 10
}
