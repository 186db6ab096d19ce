import { StorageError } from '../../errors/classes.ts'
import type { RefusalReason } from '../admission/refusal.ts'
import type { LedgerGauges } from '../entry/upkeep.ts'
import type { UntimedEvent } from './events.ts'

/** What this process has done since its ledger was made. Each is a number of events. */
export interface LedgerCounts {
  /** Claims on keys, those that were taken over included. Atomic handlers claim nothing beforehand. */
  readonly claimed: number
  /** Of these, claims of dead handlers that another request, or the reaper, took over. */
  readonly takenOver: number
  readonly recorded: number
  readonly replayed: number
  readonly released: number
  readonly abandoned: number
  /** By reason; a reason that never came is absent. */
  readonly refused: Readonly<Partial<Record<RefusalReason, number>>>
  readonly claimsLost: number
  readonly handlersFailed: number
  /** Calls that the store did not answer, or answered with an error. */
  readonly storeFailures: number
}

/** A snapshot. Never reads all rows of the store. */
export interface LedgerMetrics {
  readonly counters: LedgerCounts
  /** Handlers of this process that hold a claim, or an atomic transaction, now. */
  readonly inFlight: number
  /** Of the requests whose answer was recorded, from their arrival to the record. */
  readonly durations: { readonly count: number; readonly sumMs: number; readonly maxMs: number }
  /** Of the whole store, not of this process. Undefined where it could not be asked: `ledger.failed` says why. */
  readonly store: LedgerGauges | undefined
}

/** Counts events. An event costs an increment, and no object. */
export class LedgerCounters {
  inFlight = 0
  readonly #refused = new Map<RefusalReason, number>()
  #claimed = 0
  #takenOver = 0
  #recorded = 0
  #replayed = 0
  #released = 0
  #abandoned = 0
  #claimsLost = 0
  #handlersFailed = 0
  #storeFailures = 0
  #timed = 0
  #sumMs = 0
  #maxMs = 0

  count(event: UntimedEvent, durationMs: number | undefined): void {
    switch (event.type) {
      case 'entry.claimed':
        this.#claimed++
        if (event.takenOver) this.#takenOver++
        return
      case 'entry.recorded':
        this.#recorded++
        if (durationMs !== undefined) this.#time(durationMs)
        return
      case 'entry.replayed':
        this.#replayed++
        return
      case 'entry.released':
        this.#released++
        return
      case 'entry.abandoned':
        this.#abandoned++
        return
      case 'claim.lost':
        this.#claimsLost++
        return
      case 'handler.failed':
        this.#handlersFailed++
        return
      case 'request.refused':
        this.#refused.set(event.reason, (this.#refused.get(event.reason) ?? 0) + 1)
        return
      case 'ledger.failed':
        if (event.error instanceof StorageError) this.#storeFailures++
    }
  }

  #time(durationMs: number): void {
    this.#timed++
    this.#sumMs += durationMs
    this.#maxMs = Math.max(this.#maxMs, durationMs)
  }

  snapshot(): Omit<LedgerMetrics, 'store'> {
    return {
      counters: {
        claimed: this.#claimed,
        takenOver: this.#takenOver,
        recorded: this.#recorded,
        replayed: this.#replayed,
        released: this.#released,
        abandoned: this.#abandoned,
        refused: Object.fromEntries(this.#refused),
        claimsLost: this.#claimsLost,
        handlersFailed: this.#handlersFailed,
        storeFailures: this.#storeFailures,
      },
      inFlight: this.inFlight,
      durations: { count: this.#timed, sumMs: this.#sumMs, maxMs: this.#maxMs },
    }
  }
}

/** Returns how to count it out. */
export function countInFlight({ counters }: { readonly counters: LedgerCounters }): () => void {
  counters.inFlight++
  return () => counters.inFlight--
}
