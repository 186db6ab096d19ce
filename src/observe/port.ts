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

/** Traces and metrics of a client; `openTelemetry()` of `holdfast/opentelemetry` makes one. None of it may throw. */
export interface Telemetry {
  /** An observer that also calls `next`, the option `observe`. */
  observer(next: Observer | undefined): Observer
  /** Called as a call begins, inside of it. `keyed`: is its key sent? */
  traceCall(work: TracedCall, terms: { readonly keyed: boolean }): WorkTrace
  /** Called as a resume takes an operation up. */
  traceResume(record: TracedRecord): WorkTrace
  /** For an operation that is prepared now and sent later: what its record keeps of the trace. */
  traceRecord(): string | undefined
  /** Called once for each client, with the signal that aborts when it closes. */
  attach(client: ClientGauges, closing: AbortSignal): void
}

export interface TracedCall {
  /** `'retry'` where the call is for an operation that is in the journal already. */
  readonly method: string
  readonly operation: OperationRef
}

/** What a trace reads of a record. */
export interface TracedRecord extends OperationRef {
  /** Of the work that has made the record, perhaps in another process: its `WorkTrace.record`. */
  readonly trace?: string | undefined
  /** `url` has its query, less the parameters that carry credentials. */
  readonly request: { readonly method: string; readonly url: string }
}

/** A call, or what a resume does for one operation. */
export interface WorkTrace {
  /** What the record of a new operation keeps for later runs. Never sent. */
  readonly record: string | undefined
  /**
   * The transport of one attempt: sends with the headers of the trace, and in the context of the attempt. The event
   * `attempt.ended` ends it. `number` counts from 1 over the whole life of the operation.
   */
  attempt<T extends Sender>(transport: T, record: TracedRecord, number: number): T
  /** Ends with `result`, which rejects, or resolves to an object with an `error`, where there was no success. */
  endWith(result: Promise<unknown>, operation: { readonly key: string }): void
}

/** The part of a transport that a trace decorates. */
export interface Sender {
  send(request: never): unknown
}

/** What telemetry reads of a client from time to time. */
export interface ClientGauges {
  /** Has the client opened its journal? The other readings of the journal would open it. */
  readonly isJournalOpen: boolean
  /** No more than a thousand: of those that were quiet, the oldest are forgotten. */
  origins(): Iterable<OriginGauges>
  /** Oldest first. */
  operations(query: {
    readonly status: 'pending'
    readonly limit: number
  }): AsyncIterable<{ readonly acceptedAt: number }>
  /** How many settlements wait for a handler; no more than `limit` are counted. */
  undelivered(limit: number): Promise<number>
}

/** What the gate of an origin holds now. */
export interface OriginGauges {
  readonly origin: string
  /** In the retry budget; infinite if there is none. */
  readonly tokens: number
  readonly waiting: number
  readonly inFlight: number
  /** How long the request that has waited longest does; 0 if none waits. */
  readonly waitedMs: number
}
