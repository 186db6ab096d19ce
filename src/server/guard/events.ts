import type { RefusalReason } from '../admission/refusal.ts'
import type { KeyRequest } from './claim-key.ts'
import type { GuardOptions } from './guard-options.ts'

interface Timed {
  /** Epoch milliseconds. */
  readonly at: number
}
interface OfRequest extends Timed {
  readonly method: string
  readonly path: string
  /** Since the request reached the ledger. Undefined where no request caused the event, but the reaper. */
  readonly durationMs?: number | undefined
}
interface OfEntry extends OfRequest {
  readonly scope: string
  readonly key: string
}

/** Every event of a ledger. One closed union, past tense. No event carries a header, a query or a body. */
export type LedgerEvent =
  | (OfEntry & { readonly type: 'entry.claimed'; readonly attempt: number; readonly takenOver: boolean })
  | (OfEntry & { readonly type: 'entry.recorded'; readonly status: number; readonly bodyOmitted: boolean })
  | (OfEntry & { readonly type: 'entry.replayed'; readonly status: number })
  | (OfEntry & { readonly type: 'entry.released'; readonly status: number | undefined; readonly error?: unknown })
  | (OfEntry & {
      readonly type: 'entry.abandoned'
      readonly status?: number | undefined
      readonly error?: unknown
      /** On the store's clock, as in the entry. Undefined where the entry became `unknown` just now, by a request. */
      readonly unknownSince?: number | undefined
    })
  | (OfEntry & { readonly type: 'claim.lost' })
  /** The handler threw after its effect was committed, or after its answer: the recorded answer was sent all the same. */
  | (OfEntry & { readonly type: 'handler.failed'; readonly error: unknown })
  | (OfRequest & {
      readonly type: 'request.refused'
      readonly reason: RefusalReason
      /** Undefined where the request was refused before it was known. */
      readonly scope: string | undefined
      readonly key: string | undefined
    })
  | (Timed & { readonly type: 'ledger.failed'; readonly error: unknown })
  | (Timed & {
      readonly type: 'scope.erased'
      readonly scope: string
      readonly what: 'answers' | 'entries'
      readonly erased: number
      /** Entries that are running or unknown, and were not touched. */
      readonly left: number
    })
  /** After each pass of the reaper that was not stopped. */
  | (Timed & {
      readonly type: 'reaper.passed'
      readonly deleted: number
      readonly abandoned: number
      /** Entries whose outcome `reconcile` has found out. */
      readonly reconciled: number
      /** How many entries are unknown now, in the whole store, and since when the oldest is. */
      readonly unknown: number
      readonly oldestUnknownAt: number | undefined
      readonly durationMs: number
    })
  /** Entries are past their retention by more than an hour, and no reaper of this process deletes them. */
  | (Timed & { readonly type: 'reaper.overdue'; readonly oldestExpiredAt: number })

export type ObserveLedger = (event: LedgerEvent) => void

type Observed = Pick<GuardOptions, 'observe' | 'clock' | 'counters'>

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never

/** As `emit` takes it: without what it adds. */
export type UntimedEvent =
  | Without<Exclude<LedgerEvent, { type: 'reaper.passed' }>, 'at' | 'durationMs'>
  | Without<Extract<LedgerEvent, { type: 'reaper.passed' }>, 'at'>

/** Counts the event, and tells the observer. `receivedAt`: when the request that caused it reached the ledger. */
export function emit(guard: Observed, event: UntimedEvent, receivedAt?: number): void {
  const at = guard.clock.now()
  const durationMs = receivedAt === undefined ? undefined : Math.max(0, at - receivedAt)
  guard.counters.count(event, durationMs)
  try {
    guard.observe?.({ ...event, at, ...(durationMs === undefined ? {} : { durationMs }) } as LedgerEvent)
  } catch {
    // An error of the observer must not break the request.
  }
}

export type EntryEvent = Without<Extract<UntimedEvent, { key: string }>, 'scope' | 'key' | 'method' | 'path'>

const END_A_CLAIM: readonly string[] = ['entry.recorded', 'entry.released', 'entry.abandoned']

/** Where the event ends a claim, requests of this process that wait for the key are woken. */
export function emitForEntry(
  guard: Observed & Pick<GuardOptions, 'waiters'>,
  request: KeyRequest,
  event: EntryEvent,
): void {
  if (END_A_CLAIM.includes(event.type)) guard.waiters.pollNow(request)
  const { scope, key, method, path, receivedAt } = request
  const whole = guard.observe ? { ...event, scope, key, method, path } : event
  emit(guard, whole as UntimedEvent, receivedAt)
}
