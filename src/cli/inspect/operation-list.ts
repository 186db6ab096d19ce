import type { Engine } from '../../client/engine/engine.ts'
import { OPERATION_STATUSES, type OperationRecord } from '../../client/operation/record.ts'
import { parseDuration } from '../../foundation/duration.ts'
import { NewestFirst } from './newest-first.ts'
import { rowOf } from './operation-views.ts'
import type { OperationsPage, Status } from './wire.ts'

export interface OperationFilter {
  readonly status: Status | undefined
  /** A part of its name, id, key or URL; case does not matter. */
  readonly text: string
  /** `<1h`: accepted within the last hour; `>1h`: before that. Empty: whenever. */
  readonly age: string
  readonly before: number | undefined
}

const PAGE = 50

/** Counting reads records, so that there is an end to it. */
export const COUNTED_TO = 100
const COUNTS_LAST_MS = 10_000

/** The operations of a client, a page at a time, and how many there are. */
export class OperationList {
  readonly #engine: Engine
  readonly #newestFirst: NewestFirst
  #counts: Promise<Record<Status, number>> | undefined
  #countedAt = 0

  constructor(engine: Engine) {
    this.#engine = engine
    this.#newestFirst = new NewestFirst(engine.keeper, engine.options.namespace)
  }

  async page(filter: OperationFilter): Promise<OperationsPage> {
    const { status, before } = filter
    const now = this.#engine.clock.now()
    const isOfAge = agePredicate(filter.age, now)
    const text = filter.text.toLowerCase()
    const matches = (record: OperationRecord): boolean => isOfAge(record) && mentions(record, text)
    const { found, next, looked } = await this.#newestFirst.page({ status, before, limit: PAGE, matches })
    return { rows: found.map(({ record }) => rowOf(record, now)), next, looked }
  }

  /** Counted anew after ten seconds at the earliest, however many pages watch. */
  counts(): Promise<Record<Status, number>> {
    const now = this.#engine.clock.now()
    if (this.#counts === undefined || now - this.#countedAt >= COUNTS_LAST_MS) {
      this.#countedAt = now
      this.#counts = this.#count()
      this.#counts.catch(() => this.forgetCounts())
    }
    return this.#counts
  }

  /** After a change. */
  forgetCounts(): void {
    this.#counts = undefined
  }

  async #count(): Promise<Record<Status, number>> {
    const { keeper, options } = this.#engine
    await keeper.open()
    const counts: Partial<Record<Status, number>> = {}
    for (const status of OPERATION_STATUSES) {
      const query = { namespace: options.namespace, status, after: 0, limit: COUNTED_TO }
      counts[status] = (await keeper.list(query)).records.length
    }
    return counts as Record<Status, number>
  }
}

function mentions({ key, id, name, request }: OperationRecord, text: string): boolean {
  return text === '' || [name, id, key, request.url].some((part) => part?.toLowerCase().includes(text))
}

function agePredicate(age: string, now: number): (record: OperationRecord) => boolean {
  const ms = parseDuration(age.slice(1))
  if (ms === undefined) return () => true
  return ({ acceptedAt }) => (age.startsWith('<') ? now - acceptedAt < ms : now - acceptedAt >= ms)
}
