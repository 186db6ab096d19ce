import { readRetention } from '../../../protocol/header-names.ts'
import type { OperationRecord } from '../../operation/record.ts'
import { shortenHorizon } from '../../operation/transition.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'
import { horizonWithin } from '../../policy/horizon-within.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { Emitter } from '../emitter.ts'

/** Of the origins beyond this many, the oldest is forgotten: until its next answer the horizon is our own again. */
const ORIGINS_KEPT = 1000

/** Where a server remembers keys for a shorter time than we were told, its own word counts. */
export class AnnouncedHorizons {
  readonly #options: ResolvedOptions
  readonly #events: Emitter | undefined
  /** Milliseconds from acceptance, of the origins where they are fewer than ours. */
  readonly #shorter = new Map<string, number>()

  constructor(options: ResolvedOptions, events: Emitter | undefined) {
    this.#options = options
    this.#events = events
  }

  /** How long what is accepted now may be attempted. */
  horizonMs(origin: string): number {
    return this.#shorter.get(origin) ?? this.#options.horizonMs
  }

  /** Bounded by what is known of its origin. What can't have arrived yet does not depend on the server's memory. */
  bound(record: OperationRecord): OperationRecord {
    return record.effect === 'none' ? record : this.#shorten(record)
  }

  /** Bounded by what its own answer announces, too. */
  learn(record: OperationRecord, facts: AttemptFacts | undefined): OperationRecord {
    const windowMs = facts?.is === 'answer' && readRetention(facts.headers)
    if (!windowMs) return record
    const { origin } = record.request
    const horizonMs = horizonWithin(windowMs, this.#options)
    const news = horizonMs !== this.horizonMs(origin)
    if (news) this.#keep(origin, horizonMs)
    const bounded = this.#shorten(record)
    if (news && this.#shorter.has(origin)) {
      const { key, horizonAt } = bounded
      this.#events?.emit({ type: 'horizon.shortened', origin, key, windowMs, horizonAt })
    }
    return bounded
  }

  #shorten(record: OperationRecord): OperationRecord {
    const horizonMs = this.#shorter.get(record.request.origin)
    return horizonMs === undefined ? record : shortenHorizon(record, record.acceptedAt + horizonMs)
  }

  #keep(origin: string, horizonMs: number): void {
    this.#shorter.delete(origin)
    if (horizonMs === this.#options.horizonMs) return
    const [oldest] = this.#shorter.keys()
    if (oldest !== undefined && this.#shorter.size >= ORIGINS_KEPT) this.#shorter.delete(oldest)
    this.#shorter.set(origin, horizonMs)
  }
}
