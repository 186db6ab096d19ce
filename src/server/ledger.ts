import type { Clock } from '../foundation/clock.ts'
import type { Duration } from '../foundation/duration.ts'
import type { LedgerEncryption } from './encrypted-store.ts'
import type { Entry } from './entry/entry.ts'
import type { EffectReturn, Reply } from './entry/reply.ts'
import type { LedgerStats } from './entry/upkeep.ts'
import type { FingerprintSecret } from './fingerprint-keys.ts'
import type { GuardedLedger } from './guard/begin.ts'
import type { IdempotencyContext } from './guard/context.ts'
import type { LedgerMetrics } from './guard/counters.ts'
import type { ObserveLedger } from './guard/events.ts'
import type { Authorize, ProtectOptions, ShapeRefusal } from './guard/guard-options.ts'
import type { Quota } from './guard/scope-quota.ts'
import type { AtomicContext } from './guard/serve-atomic.ts'
import type { AtomicRequest } from './http/atomic-handler.ts'
import type { EntriesQuery, LedgerStore, Reaped, TransactOptions } from './ledger/port.ts'
import type { LedgerTelemetry } from './telemetry.ts'

export interface LedgerOptions<Tx = unknown, Returned = unknown, Native = Request> extends ProtectOptions<Native> {
  /** `sqliteLedger(…)`, `postgresLedger(…)` or, for tests, `memoryLedger()`. */
  readonly store: LedgerStore<Tx, Returned>
  /**
   * Whose key it is: the tenant, account or caller, as its verified identity says. Two scopes never see each other's
   * keys. `'public'` has to be said on purpose. An accident such as `tenant-undefined` is refused, and the request fails.
   *
   * @example scope: (request) => accountOf(request.headers.get('authorization'))
   */
  readonly scope: string | ((request: Native) => string | Promise<string>)
  /** Runs before the store is asked; an answer (a 401, a 403) is sent instead of the handler's. */
  readonly authorize?: Authorize<Native> | undefined
  /**
   * Words a refusal as your API does. Status, `Retry-After` and `Link` stay unless the reply names them; a status
   * below 400 is not taken. Synchronous. Default: the problem as RFC 9457 has it.
   *
   * @example refusal: ({ detail }) => json({ error: { type: 'idempotency_error', message: detail } })
   */
  readonly refusal?: ShapeRefusal<Native> | undefined
  /**
   * Where your problems are explained: refusals link to this and the end of their type, as
   * `Link: <https://docs.example.com/problems/key-reused>; rel="describedby"`. Default: no link.
   *
   * @example documentation: 'https://docs.example.com/problems/'
   */
  readonly documentation?: string | undefined
  /** The dedup window: how long a key is remembered; sent to the client with each answer. Default `'24h'`. */
  readonly retention?: Duration | undefined
  /** How long a claim outlives its handler's last renewal; renewed while the handler runs. Default `'60s'`. */
  readonly lease?: Duration | undefined
  /** When the handler's signal aborts. Shorter than `lease`. Default: never, as long as it runs. */
  readonly timeout?: Duration | undefined
  /** A duplicate of a request in flight is refused with 409, or waits for the first one's answer. Default `'reject'`. */
  readonly inFlight?: 'reject' | 'wait' | undefined
  /** With `inFlight: 'wait'`: for how long. Default `'10s'`. */
  readonly waitFor?: Duration | undefined
  /** A POST or PATCH without a key is refused with 400. Default `true`. */
  readonly required?: boolean | undefined
  /** What is protected. Default POST, PATCH, PUT, DELETE. */
  readonly methods?: readonly string[] | undefined
  /** Default `Idempotency-Key`. */
  readonly keyHeader?: string | undefined
  /** Record 5xx answers too, as final. 401, 407, 408, 425 and 429 never are. Default `false`. */
  readonly store5xx?: boolean | undefined
  /** A larger answer is sent but recorded without its body. Default 1 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** A larger request is refused with 413. Default 10 MiB. */
  readonly maxRequestBytes?: number | undefined
  /**
   * Response headers that are recorded and replayed although they are not by default: cookies, `Date`, credentials such as
   * `WWW-Authenticate` or a `Location` with a token in it. Fields of the connection never are.
   *
   * @example keepHeaders: ['Location']
   */
  readonly keepHeaders?: readonly string[] | undefined
  /** Further response headers that are not recorded. They win over `keepHeaders`. */
  readonly dropHeaders?: readonly string[] | undefined
  /** A store that takes longer to answer counts as down: 503. Default `'5s'`. */
  readonly storeTimeout?: Duration | undefined
  /**
   * How many keys a scope may hold at a time, for all or for each; `false`, or `undefined` for a scope: any number. More new
   * ones are refused with 429, retries are served. Approximate, by up to what all processes begin in a minute, or a hundredth
   * of the quota for each process. Default: 1,000,000 if `scope` is a function, otherwise `false`.
   *
   * @example quota: (scope) => (scope === 'internal' ? undefined : 100_000)
   */
  readonly quota?: Quota | false | undefined
  /**
   * Encrypts headers and bodies of recorded answers, and values of messages: `aesGcm(key)`. Status, scope, key and path are
   * stored as they are; a changed status, scope or key is noticed. Fingerprints of requests are made with a secret: one
   * that `aesGcm` derives from its key, or `fingerprintKey`. With `only`, answers that are not encrypted are refused.
   * Default: none.
   *
   * @example encryption: aesGcm(Buffer.from(process.env.LEDGER_KEY, 'base64'), { also: [oldKey] })
   */
  readonly encryption?: LedgerEncryption | undefined
  /**
   * A secret of at least 16 bytes for the fingerprints of requests, so that a reader of the store can't find out by trying
   * what a short body said. Several: the first makes new ones, the others are still compared. Default: derived from `encryption`,
   * or none.
   *
   * @example fingerprintKey: [process.env.FINGERPRINT_KEY, process.env.OLD_FINGERPRINT_KEY]
   */
  readonly fingerprintKey?: FingerprintSecret | readonly FingerprintSecret[] | undefined
  /** Called with each event; an error of it can't break a request. */
  readonly observe?: ObserveLedger | undefined
  /** Traces and metrics: `openTelemetry()` of `holdfast/opentelemetry`. Default none. */
  readonly telemetry?: LedgerTelemetry | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

export interface OnceOptions<Tx> extends TransactOptions<Tx> {
  /** Whose message it is: the queue, topic or tenant. */
  readonly scope: string
  /** For how long its id is remembered; at least as long as the broker may deliver it again. Default: the ledger's. */
  readonly retention?: Duration | undefined
}

export interface AtomicOptions extends Pick<ProtectOptions<Request>, 'keyFrom'> {
  /** Postgres only. */
  readonly isolation?: TransactOptions<unknown>['isolation']
}

export interface Once<T> {
  /** True where the message was consumed before: the work was not called. */
  readonly duplicate: boolean
  /** What the work returned; for a duplicate, what it returned the first time, through JSON. */
  readonly value: T
}

export interface ReaperOptions {
  /** Default `'60s'`. */
  readonly every?: Duration | undefined
  /** Rows per batch. Default 1000. */
  readonly limit?: number | undefined
  /**
   * Also calls the ledger's `reconcile` for entries that are `unknown`, at most `limit` each time, oldest first. Its
   * `'rerun'` frees the key. Default `false`.
   */
  readonly reconcile?: boolean | undefined
}

export interface EraseOptions {
  /**
   * `'answers'`: what was answered is removed, and that it was done stays: a retry within the retention gets the status
   * without headers and body, and is not run again. `'entries'`: all that is done is deleted, and a retry is run again.
   * Default `'answers'`.
   */
  readonly what?: 'answers' | 'entries' | undefined
  /** Ends it between two batches. */
  readonly signal?: AbortSignal | undefined
}

export interface ErasedScope {
  /** Answers and values, or entries and messages. */
  readonly erased: number
  /** Entries that are running or unknown: they were not touched. */
  readonly left: number
}

export interface Reaper {
  /** Resolves when a batch that is under way has ended. */
  stop(): Promise<void>
}

type FetchHandler<Tx, Returned, Rest extends unknown[]> = (
  request: Request,
  context: IdempotencyContext<Tx, Returned>,
  ...rest: Rest
) => Response | Reply | Promise<Response | Reply>

/** Makes the effect of each operation happen once. `Native` is the request of the framework that it is used with. */
export interface Ledger<Tx = unknown, Returned = EffectReturn, Native = Request>
  extends GuardedLedger<Tx, Returned, Native> {
  /** A fetch-style handler, protected. Further arguments of the framework are passed on. */
  protect<Rest extends unknown[]>(
    handler: FetchHandler<Tx, Returned, Rest>,
    options?: ProtectOptions<Request>,
  ): (request: Request, ...rest: Rest) => Promise<Response>
  /**
   * For a handler that does everything inside of its transaction: one commit, the cheapest way. Its request has been read.
   * A 4xx reply rolls its writes back and is recorded; a 5xx reply or a throw rolls everything back and frees the key.
   *
   * @example ledger.atomic(async (request, tx) => { await tx.query('insert …', [request.json().amount]); return json({ ok: true }) })
   */
  atomic(
    handler: (request: AtomicRequest, tx: Tx, context: AtomicContext) => Returned,
    options?: AtomicOptions,
  ): (request: Request) => Promise<Response>
  /** For a consumer of messages: the id and the work are committed in one transaction; a duplicate is skipped. */
  once<T>(id: string, work: (tx: Tx) => T | Promise<T>, options: OnceOptions<Tx>): Promise<Once<T>>
  /** Deletes one batch of what is past its retention. Never an entry whose effect may exist. */
  reap(options?: { readonly limit?: number | undefined }): Promise<Reaped>
  /** Reaps in the background, at an interval, until stopped. Safe in each of several replicas. */
  startReaper(options?: ReaperOptions): Reaper
  find(scope: string, key: string): Promise<Entry | undefined>
  /**
   * Entries, oldest first, read in pages.
   *
   * @example for await (const { scope, key, path } of ledger.entries({ state: 'unknown' })) console.log(scope, key, path)
   */
  entries(query?: EntriesQuery): AsyncIterable<Entry>
  /** Exact. Counts all rows, so that it takes as long as the store is large: `metrics` never does. */
  stats(): Promise<LedgerStats>
  /** What this process has done, and gauges of the store. Cheap, for a scrape every few seconds. Never rejects. */
  metrics(): Promise<LedgerMetrics>
  /** Removes what the ledger keeps of a scope: for a customer that leaves. Entries that are running or unknown stay. */
  erase(scope: string, options?: EraseOptions): Promise<ErasedScope>
  /** An operator's decision on an entry that is `unknown`: its answer, or that it may run again. False: there is none. */
  resolve(scope: string, key: string, outcome: Reply | 'rerun'): Promise<boolean>
  /**
   * Stops its reapers, tries once more to record answers that the store could not take, which takes no longer than
   * `storeTimeout`, and closes what its store opened itself.
   */
  close(): Promise<void>
}
