import type { Duration } from '../foundation/duration.ts'
import type { CallContext } from './call-context.ts'
import type { Settlement } from './engine/recover/deliver.ts'
import type { ResumeReport } from './engine/recover/resume-report.ts'
import type { OriginView } from './gate/origin-view.ts'
import type { DeadLetter } from './operation/dead-letter.ts'
import type { Json, OperationStatus } from './operation/record.ts'
import type { OperationView } from './operation/view.ts'
import type { OperationHandle } from './operation-handle.ts'
import type { CallOptions, FetchLike } from './options.ts'
import type { PreparedOperation } from './prepared-operation.ts'

export interface ResumeOptions {
  /** Keep watching for new pending records, dead runners and due times until `signal` aborts. Default false: one pass. */
  readonly continuous?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * A ceiling for how many operations are sent at once, to all origins together. Each gate learns how many its server takes. A
   * request without an answer for half a second counts for its own origin only.
   */
  readonly concurrency?: number | undefined
}

/** What `client.retry` takes. */
export interface RetryCallOptions {
  readonly signal?: AbortSignal | undefined
  readonly deadline?: Duration | undefined
}

/** What `client.close` takes. */
export interface CloseOptions {
  /**
   * How long attempts in flight may take to come home, and handlers to finish; what is left then is aborted and stays
   * pending. Default: 30 seconds, after which nothing is aborted.
   */
  readonly grace?: Duration | undefined
}

export interface OperationsQuery {
  readonly status?: OperationStatus | undefined
  readonly limit?: number | undefined
  /** The key or id of the operation to go on behind. */
  readonly after?: string | undefined
}

/** What `client.deadLetters` takes. */
export interface DeadLettersQuery {
  readonly limit?: number | undefined
  /** The key or id of the operation to go on behind. */
  readonly after?: string | undefined
}

/** An operation that was found again. Not itself a promise: awaiting the look-up does not await the operation. */
export interface FoundOperation extends OperationView {
  readonly result: OperationHandle
}

/** A settlement whose operation brought metadata of this type along. */
export interface SettlementOf<Metadata> extends Omit<Settlement, 'operation'> {
  readonly operation: Omit<Settlement['operation'], 'metadata'> & { readonly metadata: Metadata }
}

export type SettlementHandlerOf<Metadata> = (settlement: SettlementOf<Metadata>) => unknown

/** One call, the same in a browser tab and in a Node service. */
export interface Client {
  /** GET: retried, neither keyed nor journaled. */
  get(url: string | URL, options?: CallOptions): OperationHandle
  /** HEAD: retried, neither keyed nor journaled. */
  head(url: string | URL, options?: CallOptions): OperationHandle
  /** OPTIONS: retried, neither keyed nor journaled. */
  options(url: string | URL, options?: CallOptions): OperationHandle
  /** POST: journaled before it is sent, with one idempotency key for all attempts. The body goes into `json` or `body`. */
  post(url: string | URL, options?: CallOptions): OperationHandle
  /** PUT: journaled before it is sent, with one idempotency key for all attempts. */
  put(url: string | URL, options?: CallOptions): OperationHandle
  /** PATCH: journaled before it is sent, with one idempotency key for all attempts. */
  patch(url: string | URL, options?: CallOptions): OperationHandle
  /** DELETE: journaled before it is sent, with one idempotency key for all attempts. */
  delete(url: string | URL, options?: CallOptions): OperationHandle
  /** Any method but CONNECT, TRACE and TRACK; other than GET, HEAD, OPTIONS and QUERY it is journaled. */
  request(method: string, url: string | URL, options?: CallOptions): OperationHandle
  /** A drop-in `fetch`: same retries, key and journal; resolves with any final response, rejects as fetch does. */
  readonly fetch: FetchLike
  /** The same client inside an outer layer's limits. */
  with(context: CallContext): Client

  /** Claims the pending operations whose runner is gone, and sends each again under policy. */
  resume(options?: ResumeOptions): Promise<ResumeReport>
  /**
   * Called once an operation with that name settles (`'*'`: any); again on the next resume if it throws. Returns how to
   * stop. The type argument is that of the `metadata` that the calls with this name bring along.
   */
  onSettled<Metadata = Json | undefined>(name: string, handler: SettlementHandlerOf<Metadata>): () => void
  /** Looks an operation up, pending or settled; `result` waits for how it ends. Undefined where the journal has none. */
  operation(keyOrId: string): Promise<FoundOperation | undefined>
  /** Every record of the namespace, oldest first, read page by page. */
  operations(query?: OperationsQuery): AsyncIterableIterator<OperationView>
  /**
   * What a person has to look at, oldest first: parked (reason `poison` or `auth`), rejected, failed and expired
   * operations, for as long as their records are kept; and settlements that no handler has taken within `retention`
   * (reason `undelivered`).
   */
  deadLetters(query?: DeadLettersQuery): AsyncIterableIterator<DeadLetter>
  /** Goes on with the same key and bytes, within the horizon; a settled operation gives its recorded answer. */
  retry(keyOrId: string, options?: RetryCallOptions): OperationHandle
  /** Settles a pending operation as `cancelled`. False where there was nothing left to cancel. */
  cancel(keyOrId: string): Promise<boolean>
  /** Drops everything in this client's namespace, for log-out; the answer counts the records. */
  forget(): Promise<number>
  /** What is sent to an origin now, what waits, and why. Takes any URL of the origin, or a path below `baseUrl`. */
  origin(url: string | URL): OriginView
  /** The retry budget's level for an origin; infinite where there is no budget. */
  budget(origin: string): number

  /** The outbox: makes key and bytes, writes nothing. `persist` then writes the record in a transaction of yours. */
  prepare(method: string, url: string | URL, options?: CallOptions): Promise<PreparedOperation>
  /** Runs a prepared operation now. */
  send(operation: PreparedOperation): OperationHandle

  /** Waits for what this client is running. */
  flush(): Promise<void>
  /** Stops starting attempts, releases leases, closes the journal it opened. Attempts in flight may come home first. */
  close(options?: CloseOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
