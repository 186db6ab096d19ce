import type { Effect } from '../errors/reason.ts'
import type { Clock } from '../foundation/clock.ts'
import type { Duration } from '../foundation/duration.ts'
import type { Encryption } from '../foundation/encryption.ts'
import type { Random } from '../foundation/random.ts'
import type { Observer, Telemetry } from '../observe/port.ts'
import type { BreakerOptions, LimitOptions } from './gate/gate-options.ts'
import type { BudgetOptions, RetryBudget } from './gate/retry-budget.ts'
import type { Journal } from './journal/port.ts'
import type { CredentialsMode, Json, LaneOnFailure, SettledStatus } from './operation/record.ts'
import type { OperationView } from './operation/view.ts'

export type { BudgetOptions }

/** How delays are spread. `'none'` is for tests: without jitter, clients that failed together come back together. */
export type Jitter = 'full' | 'equal' | 'decorrelated' | 'none'

/** What `shouldRetry` is asked about: an attempt that ended without a usable answer, or with a status other than 2xx. */
export interface RetryContext {
  /** How many attempts this run has made, from 1. */
  readonly attempt: number
  readonly method: string
  readonly url: string
  readonly status: number | undefined
  readonly headers: Headers
  /** A short stable word such as `ECONNRESET`, where there was no answer. */
  readonly fault: string | undefined
}

export interface RetryOptions {
  /** How delays are spread. Default `'full'`. */
  readonly jitter?: Jitter | undefined
  /** The first delay's ceiling; it doubles with each retry. Default 100 ms. */
  readonly base?: Duration | undefined
  /** No delay of ours is longer. Default 20 s. */
  readonly cap?: Duration | undefined
  /** How many attempts one run makes, the first included. Default 5. */
  readonly maxAttempts?: number | undefined
  /** The statuses that are retried. Default 408, 425, 429, 500, 502, 503, 504, 520 to 524, 529, 530. */
  readonly statuses?: readonly number[] | undefined
  /** `true` or `false` decide, `undefined` leaves it to the rules. Can't override deadline, horizon, budget or do-not-retry. */
  readonly shouldRetry?: ((context: RetryContext) => boolean | undefined) | undefined
}

/** Header names; `false` switches one off. */
export interface DoNotRetryOptions {
  /** Response headers that say "do not retry" when true. Default `['Do-Not-Retry']`. */
  readonly stop?: readonly string[] | undefined
  /** Response headers that say whether to retry. Default `['X-Should-Retry', 'Stripe-Should-Retry']`. */
  readonly shouldRetry?: readonly string[] | undefined
  /** Response headers whose negative number says "do not retry". Default `['grpc-retry-pushback-ms']`. */
  readonly pushback?: readonly string[] | undefined
  /** Request header that asks inner layers not to retry, sent when this client retries. Default `'Do-Not-Retry'` in Node, off in browsers. */
  readonly send?: string | false | undefined
  /** Request header that counts attempts from 1. Default `'Holdfast-Attempt'` in Node, off in browsers. */
  readonly attempt?: string | false | undefined
  /** Request header with the rest of the deadline in milliseconds. Default `'Request-Timeout-Ms'`, as above. */
  readonly timeout?: string | false | undefined
  /** Request header with the time of acceptance (OASIS). Default `'Repeatability-First-Sent'`, as above. */
  readonly firstSent?: string | false | undefined
}

export interface KeyHeaderOptions {
  /** Default `'Idempotency-Key'`. */
  readonly name?: string | undefined
  /** `'structured'` quotes the key as the IETF draft says. Default `'bare'`. */
  readonly format?: 'bare' | 'structured' | undefined
}

/** What a `headers` function gets. */
export interface AttemptContext {
  /** Counts from 1 over the whole life of the operation. */
  readonly attempt: number
  readonly method: string
  readonly url: string
  readonly key: string | undefined
  /** Why the headers are made anew: `'unauthorized'` after a 401. */
  readonly refresh: 'unauthorized' | undefined
}

export type HeadersInput =
  | Headers
  | readonly (readonly [string, string])[]
  | { readonly [name: string]: string | undefined }
export type HeadersFunction = (attempt: AttemptContext) => HeadersInput | Promise<HeadersInput>
export type HeadersOption = HeadersInput | HeadersFunction

/** What `reconcile` may answer: what really became of an operation that is about to expire. */
export interface ReconciledOutcome {
  readonly status: SettledStatus
  readonly effect?: Effect | undefined
  readonly response?: Response | undefined
}

/** Where a journal is asked for by words instead of by object. */
export interface JournalFallback {
  /** Allows a journal that can't open to be replaced by one in memory. Said on purpose, never the default. */
  readonly fallback: 'memory'
}

export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** The part of an undici dispatcher that is used; any `Agent`, `Pool`, `ProxyAgent` or `MockAgent` fits. */
export interface DispatcherLike {
  dispatch(options: never, handler: never): boolean
  close?(): Promise<void>
}

/** Does the server behind this URL do the work of a key once? Many APIs take keys on POST only: the method is given, too. */
export type HonoursKeys = boolean | ((url: string, method: string) => boolean)

/** Everything that `createClient` takes. */
export interface ClientOptions {
  /**
   * Does the server do a key's work once? `false`: a POST or PATCH is sent again only where it certainly was not done.
   * Recorded with the operation, so that a resume keeps to it. Default `true` for the verbs of the client; for
   * `client.fetch` only where the request brought a key of its own.
   */
  readonly honoursKeys?: HonoursKeys | undefined
  /** The path of a call is appended to it; a whole URL stays as it is. Default none; in a page its origin, and it may be a path such as '/api'. */
  readonly baseUrl?: string | URL | undefined
  /** Sent only to `baseUrl`'s origin and `trustedOrigins`, of which it needs one; a function runs afresh at every attempt. Never journaled. */
  readonly headers?: HeadersOption | undefined
  /** Whether a browser sends cookies along, as fetch has it; recorded with the operation. Default: what the platform's fetch does. */
  readonly credentials?: CredentialsMode | undefined
  /**
   * For cookie sessions: a non-secret id of the user who is logged in now. Its hash is recorded with the operation and
   * compared before each attempt; if another user is logged in, nothing is sent and the operation stays pending, reason
   * `auth`. Default none.
   */
  readonly session?: (() => string) | undefined
  /** What `durable` is for calls that do not say: `false` for no keys and no journal. Default: by method. */
  readonly durable?: boolean | undefined
  /** Further origins that get `headers`, and to which a redirect may lead. Default none. */
  readonly trustedOrigins?: readonly (string | URL)[] | undefined
  /**
   * Further names of headers and query parameters that are credentials, in any letter case: sent, never persisted or shown.
   * Well-known ones need not be named. Default none.
   *
   * @example credentialNames: ['X-Tenant-Stamp']
   */
  readonly credentialNames?: readonly string[] | undefined
  /** Default in Node: the SQLite file `.holdfast/operations.db` (`HOLDFAST_DB` overrides: a file, a `postgres://` URL, or `:memory:` for tests). `false`: nothing is persisted. */
  readonly journal?: Journal | JournalFallback | false | undefined
  /** Keeps clients, and users, that share a journal apart. Default `'default'`. */
  readonly namespace?: string | undefined
  /** Options, or `false` for one attempt. */
  readonly retry?: RetryOptions | false | undefined
  /** How long the caller waits, body included. Default '30s'. */
  readonly deadline?: Duration | undefined
  /** For one attempt, body included. A shorter `deadline` is fine: it ends the attempt first. Default '10s'. */
  readonly attemptTimeout?: Duration | undefined
  /** How long the server remembers a key. Default '24h'. */
  readonly dedupWindow?: Duration | undefined
  /** How long, from acceptance, an operation may be attempted at all. Default a third of `dedupWindow`. */
  readonly horizon?: Duration | undefined
  /** How long a settlement with an `id`, or one that no handler has taken, is kept. Default `dedupWindow`. */
  readonly retention?: Duration | undefined
  /** Options, a `RetryBudget` shared between clients, or `false`. */
  readonly budget?: BudgetOptions | RetryBudget | false | undefined
  /** Options, or `false`. */
  readonly breaker?: BreakerOptions | false | undefined
  /** Calls above them wait within their deadline, resumed operations without one. Default none. */
  readonly limits?: LimitOptions | undefined
  /** What is honoured and what is sent. */
  readonly doNotRetry?: DoNotRetryOptions | undefined
  readonly keyHeader?: KeyHeaderOptions | undefined
  /** A larger request body is refused before sending. Default 10 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** A larger response is delivered, but recorded without its body. Default 1 MiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * How much of an answer `json()`, `text()` and `bytes()` read into memory, decompressed; a larger one is a `BodyError`, effect
   * `applied`. The `body` of the `Response` itself is a stream without a limit. Default 64 MiB.
   */
  readonly maxReadBytes?: number | undefined
  /** Any fetch-compatible function. */
  readonly fetch?: FetchLike | undefined
  /** Node: an undici dispatcher. */
  readonly dispatcher?: DispatcherLike | undefined
  /** Called with every event; can't break a call. */
  readonly observe?: Observer | undefined
  /** Traces and metrics: `openTelemetry()` of `holdfast/opentelemetry`. Default none. */
  readonly telemetry?: Telemetry | undefined
  /** Around bodies at rest. */
  readonly encryption?: Encryption | undefined
  /** Asked about every answer: `false` where it isn't the API speaking (a captive portal, say). That is a network fault. */
  readonly accept?: ((response: Response) => boolean | Promise<boolean>) | undefined
  /** `'keep'`: an operation whose call gives up stays pending, and a resume goes on with it. Default `'fail'`. */
  readonly onGiveUp?: 'fail' | 'keep' | undefined
  /** Asked before an operation expires: what really became of it? */
  readonly reconcile?:
    | ((operation: OperationView) => ReconciledOutcome | undefined | Promise<ReconciledOutcome | undefined>)
    | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

export type BodyInput =
  | string
  | Uint8Array
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | URLSearchParams
  | FormData
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>

/** Everything that a call takes. */
export interface CallOptions {
  /** Serialised once, before the call returns. */
  readonly json?: unknown
  readonly body?: BodyInput | null | undefined
  /** For this call. Credentials among them are sent, but not journaled. */
  readonly headers?: HeadersInput | undefined
  readonly searchParams?:
    | string
    | URLSearchParams
    | { readonly [name: string]: string | number | boolean | undefined }
    | undefined
  /** Aborting rejects with the signal's own reason and settles the operation as `cancelled`. */
  readonly signal?: AbortSignal | undefined
  readonly deadline?: Duration | undefined
  readonly attemptTimeout?: Duration | undefined
  readonly retry?: RetryOptions | false | undefined
  /** `false`: no key and no journal, so that a POST or PATCH is attempted once. Default true for POST, PUT, PATCH and DELETE. */
  readonly durable?: boolean | undefined
  readonly onGiveUp?: 'fail' | 'keep' | undefined
  /** The caller's own key. */
  readonly key?: string | undefined
  /** The caller's natural name of the operation, unique in the namespace: the same id joins the same operation. */
  readonly id?: string | undefined
  /** Routes the settlement to a handler. */
  readonly name?: string | undefined
  /** Travels with the record and comes back with it. */
  readonly metadata?: Json | undefined
  /** Operations with the same lane are attempted one after the other, in the order of their acceptance. */
  readonly lane?: string | undefined
  /**
   * With a `lane`: what happens to those behind it where this one ends without success, or is parked. `'stop'`: they wait
   * until it is retried with success, cancelled or dropped. `'continue'`: the lane goes on. Default `'stop'`.
   */
  readonly laneOnFailure?: LaneOnFailure | undefined
  readonly accept?: ((response: Response) => boolean | Promise<boolean>) | undefined
}
