import type { GateLimits } from '../../client/gate/gate-limits.ts'
import { LEVEL_LASTS_MS } from '../../client/gate/gates.ts'
import { type OriginView, viewOrigin } from '../../client/gate/origin-view.ts'
import { isStoredGate, type StoredGate } from '../../client/gate/stored-gate.ts'
import { TrafficCount } from '../../client/gate/traffic.ts'
import { readLevels } from '../../client/journal/level-rows.ts'
import type { Journal } from '../../client/journal/port.ts'
import type { OperationRecord } from '../../client/operation/record.ts'

/** With the limits of the client that wrote it. */
export type JournaledGate = StoredGate & { readonly limits: GateLimits }

/** As much of a pending operation as is needed to count it. */
export type Counted = Pick<OperationRecord, 'lease' | 'dueAt' | 'notBefore' | 'heldBy'> & {
  readonly request: { readonly origin: string }
}

/** What a journal knows of its origins: the gates of those in trouble, as a client has written them, and what is pending. */
export class JournalOrigins {
  readonly #now: number
  readonly #gates = new Map<string, JournaledGate>()
  readonly #due = new Map<string, number>()
  readonly #held = new Map<string, number>()

  private constructor(now: number) {
    this.#now = now
  }

  static async read(journal: Journal, now: number): Promise<JournalOrigins> {
    const origins = new JournalOrigins(now)
    await readLevels(journal, {
      restore: (origin, level) => {
        // What is older holds nobody up any more.
        const isFresh = isStoredGate(level) && Math.abs(now - level.at) < LEVEL_LASTS_MS
        if (isFresh && level.limits) origins.#gates.set(origin, { ...level, limits: level.limits })
      },
    })
    return origins
  }

  gateOf(origin: string): JournaledGate | undefined {
    return this.#gates.get(origin)
  }

  /** Each pending operation, once. */
  count(record: Counted): void {
    const { origin } = record.request
    if (isHeld(record, this.#now)) add(this.#held, origin)
    else if (isDue(record, this.#now)) add(this.#due, origin)
  }

  /** How many are due, and have no runner. */
  dueOf(origin: string): number {
    return this.#due.get(origin) ?? 0
  }

  /** How many have a runner. */
  heldOf(origin: string): number {
    return this.#held.get(origin) ?? 0
  }

  /** Waiting: due, and with no runner. In flight: with a runner. Undefined: nothing is known of its gate. */
  viewOf(origin: string): OriginView | undefined {
    const gate = this.#gates.get(origin)
    if (!gate) return undefined
    const { limits, ...state } = gate
    const waiting = this.dueOf(origin)
    const inFlight = this.heldOf(origin)
    const next = (kind: string) =>
      kind === 'kept' && waiting > 0
        ? ({ kind, leaveAt: Number.POSITIVE_INFINITY, called: () => {} } as const)
        : undefined
    return viewOrigin(state, limits, { ...new TrafficCount().at(this.#now), inFlight, line: { length: waiting, next } })
  }

  /** Those of which the journal knows that they hold requests back. */
  heldBack(): { readonly origin: string; readonly view: OriginView }[] {
    return [...this.#gates.keys()].flatMap((origin) => {
      const view = this.viewOf(origin)
      return view?.reason === undefined ? [] : { origin, view }
    })
  }

  get origins(): readonly string[] {
    return [...new Set([...this.#gates.keys(), ...this.#due.keys(), ...this.#held.keys()])]
  }

  /** What holds this operation back, in a few words. */
  holdOn(record: OperationRecord): string | undefined {
    if (record.status !== 'pending' || isHeld(record, this.#now) || !isDue(record, this.#now)) return undefined
    return this.viewOf(record.request.origin)?.reason?.split(';', 1)[0]
  }
}

/** Has it a runner whose lease has not ended? */
export function isHeld({ lease }: Pick<OperationRecord, 'lease'>, now: number): boolean {
  return lease !== undefined && lease.until > now
}

/** Would a resume take it up now, as far as its own time is concerned? */
export function isDue({ dueAt, notBefore, heldBy }: Counted, now: number): boolean {
  return heldBy !== 'poison' && Math.max(dueAt, notBefore) <= now
}

function add(counts: Map<string, number>, origin: string): void {
  counts.set(origin, (counts.get(origin) ?? 0) + 1)
}
