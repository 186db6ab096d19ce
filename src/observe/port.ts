import type { AttemptSummary, OperationRef } from '../errors/holdfast-error.ts'
import type { Effect, Reason } from '../errors/reason.ts'

interface EventTime {
  /** Epoch milliseconds. */
  readonly at: number
}
interface AboutOperation extends EventTime {
  readonly operation: OperationRef
  readonly method: string
  /** Without query values that look like credentials. */
  readonly url: string
}

/** Everything that a client reports. One closed union, past tense. No event ever carries a credential or a body. */
export type HoldfastEvent =
  | (AboutOperation & { readonly type: 'operation.accepted'; readonly durability: 'memory' | 'process' | 'power' })
  | (AboutOperation & { readonly type: 'attempt.started'; readonly attempt: number })
  | (AboutOperation & { readonly type: 'attempt.ended'; readonly attempt: AttemptSummary; readonly effect: Effect })
  | (AboutOperation & {
      readonly type: 'operation.waiting'
      readonly until: number
      readonly reason: Reason
      readonly error?: unknown
    })
  | (AboutOperation & {
      readonly type: 'operation.settled'
      readonly status: 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled'
      readonly reason: Reason | undefined
      readonly effect: Effect
      readonly attempts: number
      readonly replayed: boolean
      /** It succeeded, but an earlier attempt may have been done as well, and the answer shows no sign of a kept key. */
      readonly mayHaveRepeated: boolean
    })
  | (AboutOperation & { readonly type: 'operation.resumed'; readonly attempts: number })
  | (AboutOperation & { readonly type: 'lease.lost' })
  | (EventTime & {
      readonly type: 'horizon.shortened'
      readonly origin: string
      /** Of the operation whose answer announced it. */
      readonly key: string
      /** For how long the server says that it remembers a key. */
      readonly windowMs: number
      /** When that operation is attempted no more, as it is now. */
      readonly horizonAt: number
    })
  | (EventTime & { readonly type: 'budget.exhausted'; readonly origin: string })
  | (EventTime & {
      readonly type: 'breaker.changed'
      readonly origin: string
      readonly from: 'closed' | 'open' | 'half-open'
      readonly to: 'closed' | 'open' | 'half-open'
    })
  | (EventTime & {
      readonly type: 'journal.unattended'
      /** How many operations of an earlier run are pending; 20 where there may be more. */
      readonly operations: number
      /** When the oldest of them was accepted; epoch milliseconds. */
      readonly oldestAt: number
    })
  | (EventTime & { readonly type: 'journal.failed'; readonly error: Error; readonly key?: string | undefined })

export type Observer = (event: HoldfastEvent) => void
