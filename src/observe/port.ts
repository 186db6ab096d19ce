import type { AttemptSummary, OperationRef } from '../errors/holdfast-error.ts'
import type { Effect, Reason } from '../errors/reason.ts'

interface EventBase {
  /** Epoch milliseconds. */
  readonly at: number
}
interface OfOperation extends EventBase {
  readonly operation: OperationRef
  readonly method: string
  /** Without its query. */
  readonly url: string
}

/** Everything that a client reports. One closed union, past tense. No event ever carries a credential or a body. */
export type HoldfastEvent =
  | (OfOperation & { readonly type: 'operation.accepted'; readonly durability: 'memory' | 'process' | 'power' })
  | (OfOperation & { readonly type: 'attempt.started'; readonly attempt: number })
  | (OfOperation & { readonly type: 'attempt.ended'; readonly attempt: AttemptSummary; readonly effect: Effect })
  | (OfOperation & {
      readonly type: 'operation.waiting'
      readonly until: number
      readonly reason: Reason
      readonly error?: unknown
    })
  | (OfOperation & {
      readonly type: 'operation.settled'
      readonly status: 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled'
      readonly reason: Reason | undefined
      readonly effect: Effect
      readonly attempts: number
      readonly replayed: boolean
      /** It succeeded, but an earlier attempt may have been done as well, and the answer shows no sign of a kept key. */
      readonly mayHaveRepeated: boolean
    })
  | (OfOperation & { readonly type: 'operation.resumed'; readonly attempts: number })
  | (OfOperation & { readonly type: 'lease.lost' })
  | (EventBase & {
      readonly type: 'horizon.shortened'
      readonly origin: string
      /** Of the operation whose answer announced it. */
      readonly key: string
      /** For how long the server says that it remembers a key. */
      readonly windowMs: number
      /** When that operation is attempted no more, as it is now. */
      readonly horizonAt: number
    })
  | (EventBase & { readonly type: 'budget.exhausted'; readonly origin: string })
  | (EventBase & {
      readonly type: 'breaker.changed'
      readonly origin: string
      readonly from: 'closed' | 'open' | 'half-open'
      readonly to: 'closed' | 'open' | 'half-open'
    })
  | (EventBase & {
      readonly type: 'journal.unattended'
      /** How many operations of an earlier run are pending; 20 where there may be more. */
      readonly operations: number
      /** When the oldest of them was accepted; epoch milliseconds. */
      readonly oldestAt: number
    })
  | (EventBase & { readonly type: 'journal.failed'; readonly error: Error; readonly key?: string | undefined })

export type Observer = (event: HoldfastEvent) => void
