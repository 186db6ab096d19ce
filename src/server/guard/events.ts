import type { RefusalReason } from '../admission/refusal.ts'
import type { KeyRequest } from './claim-key.ts'
import type { GuardOptions } from './guard-options.ts'

interface Timed {
  /** Epoch milliseconds. */
  readonly at: number
}
interface OfEntry extends Timed {
  readonly scope: string
  readonly key: string
  readonly method: string
  readonly path: string
}

/** Every event of a ledger. One closed union, past tense. No event carries a header, a query or a body. */
export type LedgerEvent =
  | (OfEntry & { readonly type: 'entry.claimed'; readonly attempt: number; readonly takenOver: boolean })
  | (OfEntry & { readonly type: 'entry.recorded'; readonly status: number; readonly bodyOmitted: boolean })
  | (OfEntry & { readonly type: 'entry.replayed'; readonly status: number })
  | (OfEntry & { readonly type: 'entry.released'; readonly status: number | undefined; readonly error?: unknown })
  | (OfEntry & { readonly type: 'entry.abandoned'; readonly status?: number | undefined; readonly error?: unknown })
  | (OfEntry & { readonly type: 'claim.lost' })
  /** The handler threw after its effect was committed, or after its answer: the recorded answer was sent all the same. */
  | (OfEntry & { readonly type: 'handler.failed'; readonly error: unknown })
  | (Timed & {
      readonly type: 'request.refused'
      readonly reason: RefusalReason
      readonly method: string
      readonly path: string
      /** Undefined where the request was refused before it was known. */
      readonly scope: string | undefined
      readonly key: string | undefined
    })
  | (Timed & { readonly type: 'ledger.failed'; readonly error: unknown })

export type ObserveLedger = (event: LedgerEvent) => void

type Observed = Pick<GuardOptions, 'observe' | 'clock'>

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never

export function emit(guard: Observed, event: Without<LedgerEvent, 'at'>): void {
  try {
    guard.observe?.({ ...event, at: guard.clock.now() } as LedgerEvent)
  } catch {
    // An error of the observer must not break the request.
  }
}

export type EntryEvent = Without<Extract<LedgerEvent, { key: string }>, 'at' | 'scope' | 'key' | 'method' | 'path'>

const END_A_CLAIM: readonly string[] = ['entry.recorded', 'entry.released', 'entry.abandoned']

/** Where the event ends a claim, requests of this process that wait for the key are woken. */
export function emitForEntry(
  guard: Observed & Pick<GuardOptions, 'waiters'>,
  request: KeyRequest,
  event: EntryEvent,
): void {
  if (END_A_CLAIM.includes(event.type)) guard.waiters.pollNow(request)
  if (!guard.observe) return
  const { scope, key, method, path } = request
  emit(guard, { ...event, scope, key, method, path } as Without<LedgerEvent, 'at'>)
}
