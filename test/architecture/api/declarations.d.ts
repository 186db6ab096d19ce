declare class Background {
    #private;
    get closing(): AbortSignal;
    run(work: Promise<unknown>): void;
    close(): Promise<void>;
}

declare class BodyError extends HoldfastError {
    name: string;
    readonly code: CodesOf['BodyError'];
    readonly response: Response | undefined;
    constructor(message: string, details: Details<'BodyError', 'none' | 'applied'> & Pick<AnswerDetails, 'response'>);
}

declare class ClaimLostError extends HoldfastError {
    name: string;
    constructor();
}

declare class ConfigurationError extends HoldfastError {
    name: string;
    readonly code: CodesOf['ConfigurationError'];
    constructor(message: string, details?: Partial<Details<'ConfigurationError', Effect>>);
}

declare class HeldLease {
    #private;
    constructor(guard: GuardOptions, { claim, heldFrom }: Held, watcher: LeaseWatcher);
    get isHeld(): boolean;
    resize(leaseMs: number): void;
    stop(): void;
    letLapse(): void;
}

declare class HoldfastError extends Error {
    name: string;
    readonly code: HoldfastCode;
    readonly effect: Effect;
    readonly reason: Reason | undefined;
    readonly operation: OperationRef | undefined;
    readonly attempts: readonly AttemptSummary[];
    readonly pending: boolean;
    readonly retryAt: number | undefined;
    constructor(message: string, details: ErrorDetails);
}

declare class InFlightWaiters {
    #private;
    constructor(clock: Clock);
    pollNow(request: KeyRequest): void;
    wait<Other extends Kind = never>(waiting: InFlightWaiter<Other>): Promise<ClaimResult | Other>;
}

declare class IndeterminateError extends HoldfastError {
    name: string;
    readonly code: CodesOf['IndeterminateError'];
    readonly operation: OperationRef;
    readonly response: Response | undefined;
    readonly problem: ProblemDetails | undefined;
    constructor(message: string, details: Details<'IndeterminateError', 'unknown' | 'applied'> & AnswerDetails);
}

declare class KeyReuseError extends HoldfastError {
    name: string;
    readonly code: CodesOf['KeyReuseError'];
    readonly operation: OperationRef;
    readonly response: Response | undefined;
    readonly problem: ProblemDetails | undefined;
    constructor(message: string, details: Details<'KeyReuseError', 'none' | 'unknown'> & AnswerDetails);
}

declare class LedgerCounters {
    #private;
    inFlight: number;
    count(event: UntimedEvent, durationMs: number | undefined): void;
    snapshot(): Omit<LedgerMetrics, 'store'>;
}

declare class NotSentError extends HoldfastError {
    name: string;
    readonly code: CodesOf['NotSentError'];
    constructor(message: string, details: Details<'NotSentError', 'none'>);
}

declare class OperationHandle implements Promise<Response> {
    #private;
    readonly [Symbol.toStringTag] = "OperationHandle";
    constructor(source: HandleSource);
    get key(): string;
    get id(): string | undefined;
    get accepted(): Promise<DurabilityLevel>;
    json<T = unknown>(): Promise<T>;
    text(): Promise<string>;
    bytes(): Promise<Uint8Array>;
    cancel(): Promise<void>;
    then<A = Response, B = never>(onFulfilled?: ((value: Response) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
    catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Response | B>;
    finally(onFinally?: (() => void) | null): Promise<Response>;
}

declare class ReaperWatch {
    #private;
    constructor(now: number, warn: (sentence: string) => void);
    enter(): () => void;
    look(guard: GuardOptions): void;
}

declare class RejectedError extends HoldfastError {
    name: string;
    readonly code: CodesOf['RejectedError'];
    readonly operation: OperationRef;
    readonly response: Response;
    readonly problem: ProblemDetails | undefined;
    constructor(message: string, details: Details<'RejectedError', 'none' | 'unknown'> & AnswerDetails);
}

declare class ScopeQuota {
    #private;
    constructor(options: QuotaOptions);
    hasRoom(guard: GuardOptions, scope: string): Promise<boolean>;
    added(scope: string): void;
}

declare class Session {
    #private;
    readonly context: IdempotencyContext;
    constructor(guard: GuardOptions, claimed: ClaimedRequest | null);
    get records(): boolean;
    get answersWith(): SessionEffect['answersWith'];
    get isRolledBack(): boolean;
    get isExternal(): boolean;
    setHeaderSource(source: () => HeaderList): void;
    streamed(answer: Answer): Answer | undefined;
    complete(answer: Answer, late?: LateAnswer): Promise<Answer>;
    fail(error: unknown, { answer, late, unseen }?: Failure): Promise<Answer | undefined>;
}

declare class SessionEffect {
    #private;
    headerSource: (() => HeaderList) | undefined;
    constructor(guard: GuardOptions, options: EffectOptions);
    get hasBegun(): boolean;
    get isRunning(): boolean;
    get isRolledBack(): boolean;
    get isSettled(): boolean;
    get answersWith(): 'handler' | 'effect' | 'committer';
    run(work: (tx: unknown) => unknown, options: TransactOptions<unknown>): Promise<Reply>;
    get workLeft(): Promise<undefined> | undefined;
    ended(): Promise<Outcome<Answer> | 'none'>;
}

declare class StorageError extends HoldfastError {
    name: string;
    readonly code: CodesOf['StorageError'];
    constructor(message: string, details?: Partial<Details<'StorageError', Effect>>);
}

declare const CLIENT_CHANNEL = "holdfast:client";

declare const EXPECTED: {
    readonly state: readonly [
        "pending",
        "succeeded",
        "rejected",
        "failed",
        "expired",
        "cancelled",
        "parked",
        "held"
    ];
    readonly transition: readonly [
        "accept",
        "start",
        "end",
        "release",
        "claim",
        "take-over",
        "settle succeeded",
        "settle rejected",
        "settle failed",
        "settle expired",
        "settle cancelled",
        "reopen",
        "delivered",
        "drop",
        "pruned",
        "set aside"
    ];
    readonly fault: readonly [
        "refused",
        "request-lost",
        "answer-lost",
        "half-open",
        "body-lost",
        "slow-network",
        "duplicate",
        "late-duplicate",
        "server-crash-before",
        "server-crash-after",
        "outage",
        "busy",
        "busy-with-timing",
        "do-not-retry",
        "do-not-retry-after",
        "gateway-error-after",
        "declined",
        "unauthorized",
        "short-window",
        "keys-ignored",
        "odd-body",
        "disk-full",
        "disk-answer-lost",
        "disk-slow",
        "store-blinks",
        "power-cut",
        "crash",
        "freeze",
        "clock-ahead",
        "clock-back",
        "page-hidden",
        "offline",
        "messages-slow",
        "locks-slow",
        "locks-unknown",
        "handler-throws",
        "handler-slow",
        "handler-leaves",
        "headers-slow",
        "abort",
        "cancel",
        "retry-by-key",
        "same-id",
        "same-key",
        "fresh-signature",
        "key-reuse",
        "close",
        "listed",
        "ledger-crash",
        "ledger-freeze",
        "ledger-store-slow",
        "ledger-store-blinks",
        "ledger-store-answer-lost",
        "ledger-record-fails",
        "work-fails",
        "work-fails-after",
        "work-slow",
        "lanes",
        "duplicate-burst",
        "renewals-starve",
        "ledger-cut-off",
        "work-throws-refusal",
        "work-ends-transaction",
        "framework-timeout",
        "router-answers",
        "router-retries",
        "program-exits",
        "handlers-away",
        "fetch-retries",
        "two-apis",
        "record-changed",
        "outbox",
        "log-in",
        "connection-silent",
        "many-apis",
        "api-blips",
        "api-outage",
        "api-hangs",
        "api-throttles",
        "api-slow",
        "burst",
        "backlog",
        "handler-hangs"
    ];
    readonly 'crash point': readonly SimulatedCrashPoint[];
    readonly observation: readonly [
        "lease lost",
        "stale write refused",
        "budget exhausted",
        "breaker opened",
        "resumed",
        "replayed answer",
        "in-flight answer",
        "doubled by a short window",
        "joined",
        "asked again by fetch",
        "kept for later",
        "waited in a lane",
        "stopped a lane",
        "rejoined a lane",
        "entry taken over",
        "entry abandoned",
        "entry released",
        "entry reconciled",
        "claim lost",
        "outcome-unknown answer",
        "unavailable answer",
        "key-reused answer",
        "answer recorded late",
        "looked at between mark and lock",
        "aborted by its own clock",
        "answered in the place of a handler at work",
        "thrown refusal recorded"
    ];
    readonly claim: readonly [
        ...string[],
        "a result: success",
        "a result: failure"
    ];
};

declare const GUARD: unique symbol;

declare const LEDGER_CALLS: readonly [
    "insert",
    "take-over",
    "renew",
    "complete",
    "release",
    "abandon",
    "transact",
    "find",
    "reap",
    "entries",
    "gauges"
];

declare const LEDGER_CHANNEL = "holdfast:ledger";

declare const LEDGER_POINTS_BESIDE: readonly [
    "ledger:serving",
    "ledger:in-transaction",
    "ledger:committing",
    "ledger:reconciling",
    "provider:leaving",
    "provider:travelling",
    "provider:answered",
    "ledger:marked",
    "framework:answering"
];

declare const POINTS_BESIDE: readonly [
    "open",
    "send:leaving",
    "send:travelling",
    "send:answered",
    "timer",
    "headers",
    "handler:called",
    "handler:working",
    "handler:done"
];

declare const STAGES: readonly [
    "asked",
    "unsynced",
    "durable"
];

declare const WRITES: readonly [
    "append",
    "attempt",
    "wait",
    "settle",
    "release",
    "deliver",
    "remove",
    "renew",
    "claim",
    "claim-by-key",
    "read",
    "survey",
    "prune"
];

declare const crashPoints: readonly CrashPoint[];

declare const publishEvent: Observer;

declare const retryContext: RetryContexts;

declare function aesGcm(key: AesKey, { also }?: BodyKeysOptions): Encryption;

declare function aesGcm(key: Uint8Array, { also, only }?: AesGcmOptions): SynchronousEncryption;

declare function crashAt(point: CrashPoint, options: CrashAtOptions): Crash;

declare function createClient(options?: ClientOptions): Client;

declare function createLedger<Tx, Returned = EffectReturn, Native = Request>(options: LedgerOptions<Tx, Returned, Native>): Ledger<Tx, Returned, Native>;

declare function createLedger<Tx, Returned = EffectReturn>(options: LedgerOptions<Tx, Returned, unknown> & {
    readonly scope: string;
    readonly authorize?: undefined;
}): Ledger<Tx, Returned, unknown>;

declare function createRetryBudget(options?: BudgetOptions): RetryBudget;

declare function fastifyLedger(app: FastifyInstance, options: FastifyLedgerOptions): Promise<void>;

declare function fastifyRetryContext(app: FastifyInstance, options: RetryContextOptions<FastifyRequest>, done: () => void): void;

declare function guardOf<Tx, Returned, Native>(ledger: GuardedLedger<Tx, Returned, Native>, options?: ProtectOptions<Native>, own?: AdapterOptions): LedgerGuard<Tx, Returned, Native>;

declare function honoLedger<Tx, Returned, Native>(ledger: GuardedLedger<Tx, Returned, Native>, options: HonoLedgerOptions<Native>): Middleware<Tx, Returned>;

declare function honoLedger<Tx, Returned>(ledger: GuardedLedger<Tx, Returned, Request>, options?: ProtectOptions & {
    readonly native?: undefined;
}): Middleware<Tx, Returned>;

declare function honoRetryContext(options?: RetryContextOptions<Request>): MiddlewareHandler;

declare function idempotent<Tx, Returned, Native, Req extends IncomingMessage & Native = IncomingMessage & Native, Res extends ServerResponse = ResponseOf<Req>>(ledger: GuardedLedger<Tx, Returned, Native>, handler: (req: Idempotent<Req, NoInfer<Tx>, NoInfer<Returned>>, res: Res, next: NextFunction) => unknown, options?: ProtectOptions): (req: Req, res: Res, next: NextFunction) => void;

declare function idempotent<Tx, Returned, Native>(ledger: GuardedLedger<Tx, Returned, Native>, options?: ProtectOptions): (req: IncomingMessage & Native, res: ServerResponse, next: NextFunction) => void;

declare function indexedDbJournal(options?: IndexedDbJournalOptions): Journal;

declare function isHoldfastError(error: unknown): error is AnyHoldfastError;

declare function isReply(value: unknown): value is Reply;

declare function journalContract(options: JournalContractOptions): ContractCase[];

declare function json(value: unknown, init?: ReplyInit): Reply;

declare function ledgerContract<Tx>(given: LedgerContractOptions<Tx>): ContractCase[];

declare function manualClock(startAt?: number): ManualClock;

declare function memoryJournal(): Journal;

declare function memoryLedger(): LedgerStore<MemoryTransaction, EffectReturn>;

declare function migratePostgresJournal(options: Omit<PostgresJournalOptions, 'migrate' | 'sharedBudget'>): Promise<void>;

declare function migratePostgresLedger(options: Omit<PostgresLedgerOptions, 'migrate'>): Promise<void>;

declare function nodeHandler<Tx, Returned, Native, Req extends IncomingMessage & Native = IncomingMessage & Native, Res extends ServerResponse = ServerResponse>(ledger: GuardedLedger<Tx, Returned, Native>, handler: (req: Idempotent<Req, NoInfer<Tx>, NoInfer<Returned>>, res: Res, next: NextFunction) => unknown, options?: NodeHandlerOptions): (req: Req, res: Res, next?: NextFunction) => Promise<void>;

declare function nodeRetryContext(options?: RetryContextOptions<IncomingMessage>): NodeMiddleware;

declare function openTelemetry(options?: OpenTelemetryOptions): OpenTelemetry;

declare function overloaded(options?: OverloadedOptions): Reply;

declare function postgresJournal(options: PostgresJournalOptions): Journal;

declare function postgresLedger<Pool extends PostgresPool = PostgresPool>(options: PostgresLedgerOptions<Pool>): LedgerStore<PostgresTransaction<Pool>, EffectReturn>;

declare function publishLedgerEvent(event: {
    readonly type: string;
    readonly at: number;
}): void;

declare function reply(body: string | Uint8Array | null, init?: ReplyInit): Reply;

declare function reportText(report: SimulationReport): string;

declare function resumeInServiceWorker(client: Resuming, scope?: ServiceWorkerScope): void;

declare function scriptedFetch(steps: readonly ScriptedStep[] | StepFunction, options?: ScriptedFetchOptions): ScriptedFetch;

declare function seededRandom(seed: number | string): SeededRandom;

declare function simulate(options?: SimulateOptions): Promise<SimulationReport>;

declare function sqliteJournal(options: SqliteJournalOptions): Journal;

declare function sqliteLedger<D extends SqliteDatabase = SqliteDatabase>(options: SqliteLedgerOptions<D>): LedgerStore<D, Reply>;

declare function startInspector(options: InspectorOptions): Promise<Inspector>;

declare function wakeServiceWorker(container?: {
    getRegistration(): Promise<object | undefined>;
} | undefined): Promise<boolean>;

interface AesGcmOptions {
    readonly also?: readonly Uint8Array[] | undefined;
    readonly only?: boolean | undefined;
}

interface Answer {
    readonly response: StoredResponse;
    readonly rest: AnswerRest | undefined;
    readonly operation: OperationRef;
    readonly attempts: readonly AttemptSummary[];
}

interface Answer {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
}

interface AnswerDetails {
    readonly response?: Response | undefined;
    readonly problem?: ProblemDetails | undefined;
}

interface AnswerPolicy extends HeaderPolicy {
    readonly store5xx: boolean;
    readonly maxResponseBytes: number;
    readonly decideFinal?: ((answer: Answer) => boolean | undefined) | undefined;
}

interface AnswerStep extends Timing {
    readonly status?: number | undefined;
    readonly headers?: HeadersInput | undefined;
    readonly body?: string | Uint8Array | null | undefined;
    readonly json?: unknown;
    readonly stallBody?: boolean | undefined;
    readonly url?: string | undefined;
}

interface Append {
    readonly do: 'append';
    readonly row: JournalRow;
}

interface AtomicOptions extends Pick<ProtectOptions<Request>, 'keyFrom'> {
    readonly isolation?: TransactOptions<unknown>['isolation'];
}

interface AtomicRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly native: Request;
    bytes(): Uint8Array;
    text(): string;
    json<T = Awaited<ReturnType<Request['json']>>>(): T;
}

interface AtomicRun<Tx> {
    readonly draft: EntryDraft;
    readonly mayReplace: (found: FoundEntry) => boolean;
    readonly work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>;
    readonly options: Pick<TransactOptions<Tx>, 'isolation'>;
}

interface AttemptContext {
    readonly attempt: number;
    readonly method: string;
    readonly url: string;
    readonly key: string | undefined;
    readonly refresh: 'unauthorized' | undefined;
}

interface AttemptSummary {
    readonly number: number;
    readonly startedAt: number;
    readonly durationMs: number;
    readonly status?: number | undefined;
    readonly fault?: string | undefined;
}

interface BodyKeysOptions {
    readonly also?: readonly AesKey[] | undefined;
}

interface BreakerOptions {
    readonly openAfter?: Duration | undefined;
    readonly openFor?: Duration | undefined;
}

interface BrokenPromise {
    readonly promise: PromiseName;
    readonly sentence: string;
    readonly at: number;
}

interface BudgetOptions {
    readonly ratio?: number | undefined;
    readonly burst?: number | undefined;
    readonly reservePerSecond?: number | undefined;
}

interface CallContext {
    readonly doNotRetry?: boolean | undefined;
    readonly deadlineAt?: number | undefined;
}

interface CallOptions {
    readonly json?: unknown;
    readonly body?: BodyInput | null | undefined;
    readonly headers?: HeadersInput | undefined;
    readonly searchParams?: string | URLSearchParams | {
        readonly [name: string]: string | number | boolean | undefined;
    } | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly deadline?: Duration | undefined;
    readonly attemptTimeout?: Duration | undefined;
    readonly retry?: RetryOptions | false | undefined;
    readonly durable?: boolean | undefined;
    readonly onGiveUp?: 'fail' | 'keep' | undefined;
    readonly key?: string | undefined;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly metadata?: Json | undefined;
    readonly lane?: string | undefined;
    readonly laneOnFailure?: LaneOnFailure | undefined;
    readonly accept?: ((response: Response) => boolean | Promise<boolean>) | undefined;
}

interface Claim {
    readonly scope: string;
    readonly key: string;
    readonly token: string;
    readonly attempt: number;
}

interface ClaimByKey extends Claimant {
    readonly do: 'claim';
    readonly key: string;
    readonly statuses: readonly OperationStatus[];
}

interface ClaimDue extends Claimant, DueFilter {
    readonly do: 'claim';
    readonly lane?: string | undefined;
    readonly after: number;
    readonly limit: number;
    readonly dueBy: number;
    readonly starts?: true | undefined;
}

interface Claimant {
    readonly namespace: string;
    readonly owner: string;
    readonly now: number;
    readonly leaseUntil: number;
    readonly deadOwners: readonly string[];
}

interface ClaimedRequest {
    readonly request: KeyRequest;
    readonly claim: Claim;
    readonly heldFrom: Moment;
    readonly protection: Protection;
    notDone?: boolean;
}

interface ClaimedRow extends PlacedRow {
    readonly previousOwner: string | null;
}

interface Client {
    get(url: string | URL, options?: CallOptions): OperationHandle;
    head(url: string | URL, options?: CallOptions): OperationHandle;
    options(url: string | URL, options?: CallOptions): OperationHandle;
    post(url: string | URL, options?: CallOptions): OperationHandle;
    put(url: string | URL, options?: CallOptions): OperationHandle;
    patch(url: string | URL, options?: CallOptions): OperationHandle;
    delete(url: string | URL, options?: CallOptions): OperationHandle;
    request(method: string, url: string | URL, options?: CallOptions): OperationHandle;
    readonly fetch: FetchLike;
    with(context: CallContext): Client;
    resume(options?: ResumeOptions): Promise<ResumeReport>;
    onSettled<Metadata = Json | undefined>(name: string, handler: SettlementHandlerOf<Metadata>): () => void;
    operation(keyOrId: string): Promise<FoundOperation | undefined>;
    operations(query?: OperationsQuery): AsyncIterableIterator<OperationView>;
    deadLetters(query?: DeadLettersQuery): AsyncIterableIterator<DeadLetter>;
    retry(keyOrId: string, options?: RetryCallOptions): OperationHandle;
    cancel(keyOrId: string): Promise<boolean>;
    forget(): Promise<number>;
    origin(url: string | URL): OriginView;
    budget(origin: string): number;
    prepare(method: string, url: string | URL, options?: CallOptions): Promise<PreparedOperation>;
    send(operation: PreparedOperation): OperationHandle;
    flush(): Promise<void>;
    close(options?: CloseOptions): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

interface ClientGauges {
    readonly isJournalOpen: boolean;
    origins(): Iterable<OriginGauges>;
    operations(query: {
        readonly status: 'pending';
        readonly limit: number;
    }): AsyncIterable<{
        readonly acceptedAt: number;
    }>;
    undelivered(limit: number): Promise<number>;
}

interface ClientOptions {
    readonly honoursKeys?: HonoursKeys | undefined;
    readonly baseUrl?: string | URL | undefined;
    readonly headers?: HeadersOption | undefined;
    readonly credentials?: CredentialsMode | undefined;
    readonly session?: (() => string) | undefined;
    readonly durable?: boolean | undefined;
    readonly trustedOrigins?: readonly (string | URL)[] | undefined;
    readonly credentialNames?: readonly string[] | undefined;
    readonly journal?: Journal | JournalFallback | false | undefined;
    readonly namespace?: string | undefined;
    readonly retry?: RetryOptions | false | undefined;
    readonly deadline?: Duration | undefined;
    readonly attemptTimeout?: Duration | undefined;
    readonly dedupWindow?: Duration | undefined;
    readonly horizon?: Duration | undefined;
    readonly retention?: Duration | undefined;
    readonly budget?: BudgetOptions | RetryBudget | false | undefined;
    readonly breaker?: BreakerOptions | false | undefined;
    readonly limits?: LimitOptions | undefined;
    readonly doNotRetry?: DoNotRetryOptions | undefined;
    readonly keyHeader?: KeyHeaderOptions | undefined;
    readonly maxBodyBytes?: number | undefined;
    readonly maxResponseBytes?: number | undefined;
    readonly maxReadBytes?: number | undefined;
    readonly fetch?: FetchLike | undefined;
    readonly dispatcher?: DispatcherLike | undefined;
    readonly observe?: Observer | undefined;
    readonly telemetry?: Telemetry | undefined;
    readonly encryption?: Encryption | undefined;
    readonly accept?: ((response: Response) => boolean | Promise<boolean>) | undefined;
    readonly onGiveUp?: 'fail' | 'keep' | undefined;
    readonly reconcile?: ((operation: OperationView) => ReconciledOutcome | undefined | Promise<ReconciledOutcome | undefined>) | undefined;
    readonly clock?: Clock | undefined;
    readonly random?: Random | undefined;
}

interface Clock {
    now(): number;
    sleep(ms: number, signal?: AbortSignal): Promise<void>;
    after?(ms: number, callback: () => void): () => void;
    background?(ms: number, callback: () => void): () => void;
    turn?(): Promise<void>;
    elapsed?(): number;
}

interface CloseOptions {
    readonly grace?: Duration | undefined;
}

interface CodesOf {
    readonly ConfigurationError: 'HOLDFAST_CONFIGURATION';
    readonly BodyError: 'HOLDFAST_BODY' | 'HOLDFAST_BODY_TOO_LARGE' | 'HOLDFAST_BODY_UNREADABLE' | 'HOLDFAST_INVALID_JSON' | 'HOLDFAST_BODY_OMITTED';
    readonly NotSentError: 'HOLDFAST_NOT_SENT' | 'HOLDFAST_CLOSED';
    readonly RejectedError: 'HOLDFAST_REJECTED';
    readonly KeyReuseError: 'HOLDFAST_KEY_REUSE';
    readonly IndeterminateError: 'HOLDFAST_INDETERMINATE' | 'HOLDFAST_CLOSED';
    readonly StorageError: 'HOLDFAST_STORAGE' | 'HOLDFAST_RECORD_CORRUPT' | 'HOLDFAST_RECORD_NEWER' | 'HOLDFAST_RECORD_GONE' | 'HOLDFAST_UNKNOWN_OPERATION' | 'HOLDFAST_POOL_BUSY';
    readonly LedgerError: 'HOLDFAST_CLAIM_LOST' | 'HOLDFAST_NOT_COMMITTED' | 'HOLDFAST_RECONCILE' | 'HOLDFAST_MESSAGE_HELD';
}

interface CommandQueue<Command, Failure> {
    push(queued: Queued<Command, Failure>): void;
    idle(): Promise<void>;
}

interface CommandResults {
    append: AppendResult;
    write: boolean;
    claim: ClaimedRow[];
    read: PlacedRow | undefined;
    list: PlacedRow[];
    lane: string | undefined;
    survey: SurveyResult;
    drop: number;
}

interface Consumed {
    readonly duplicate: boolean;
    readonly value: string | null;
    readonly held?: true;
}

interface Consumption<Tx> {
    readonly work: (tx: Tx) => string | null | Promise<string | null>;
    readonly options: TransactOptions<Tx>;
}

interface ContractCase {
    readonly name: string;
    run(): Promise<void>;
}

interface Crash {
    readonly options: {
        readonly journal: Journal;
        readonly fetch: FetchLike;
        readonly clock: Clock;
    };
    readonly happened: Promise<void>;
    readonly reached: boolean;
    readonly passed: readonly CrashPoint[];
    during(work: PromiseLike<unknown>): Promise<void>;
}

interface CrashAtOptions {
    readonly journal: Journal;
    readonly fetch?: FetchLike | undefined;
    readonly clock?: Clock | undefined;
    readonly occurrence?: number | undefined;
}

interface CryptoKeyLike {
    readonly type: string;
    readonly extractable: boolean;
    readonly algorithm: object;
    readonly usages: readonly string[];
}

interface DeadLetter extends OperationView {
    readonly lastStatus: number | undefined;
    readonly lastError: string | undefined;
    readonly keptUntil: number | undefined;
}

interface DeadLettersQuery {
    readonly limit?: number | undefined;
    readonly after?: string | undefined;
}

interface DispatcherLike {
    dispatch(options: never, handler: never): boolean;
    close?(): Promise<void>;
}

interface DoNotRetryOptions {
    readonly stop?: readonly string[] | undefined;
    readonly shouldRetry?: readonly string[] | undefined;
    readonly pushback?: readonly string[] | undefined;
    readonly send?: string | false | undefined;
    readonly attempt?: string | false | undefined;
    readonly timeout?: string | false | undefined;
    readonly firstSent?: string | false | undefined;
}

interface DropExpired {
    readonly do: 'drop';
    readonly expiredBy: number;
    readonly limit: number;
}

interface DropNamespace {
    readonly do: 'drop';
    readonly namespace: string;
}

interface DueFilter {
    readonly deliverNames: readonly string[] | '*';
    readonly exceptNames: readonly string[];
    readonly origins: readonly string[] | '*';
    readonly exceptOrigins: readonly string[];
}

interface EffectOptions {
    readonly claimed: ClaimedRequest | null;
    readonly lease: HeldLease | undefined;
    readonly isOver: () => boolean;
    readonly onOutcome: (outcome: Outcome<Answer>) => void;
}

interface Encryption {
    seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
    open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
    fingerprintKeys?(): readonly Uint8Array[];
}

interface EntriesQuery {
    readonly state?: EntryState | undefined;
    readonly scope?: string | undefined;
    readonly after?: EntryPlace | undefined;
    readonly limit?: number | undefined;
}

interface Entry {
    readonly scope: string;
    readonly key: string;
    readonly fingerprint: string;
    readonly method: string;
    readonly path: string;
    readonly state: EntryState;
    readonly token: string;
    readonly attempt: number;
    readonly external: boolean;
    readonly inEffect: boolean;
    readonly createdAt: number;
    readonly leaseUntil: number;
    readonly completedAt: number | null;
    readonly expiresAt: number;
    readonly unknownSince: number | null;
    readonly answer: RecordedAnswer | null;
    readonly version: number;
}

interface EntryDraft {
    readonly scope: string;
    readonly key: string;
    readonly fingerprint: string;
    readonly method: string;
    readonly path: string;
    readonly token: string;
    readonly external: boolean;
    readonly durable: boolean;
    readonly leaseMs: number;
    readonly retentionMs: number;
    readonly now: number;
    readonly patienceMs?: number | undefined;
    readonly createdAt?: number | undefined;
}

interface EraseBatch {
    readonly scope: string;
    readonly what: 'answers' | 'entries';
    readonly after: ErasePlace | undefined;
    readonly limit: number;
}

interface EraseOptions {
    readonly what?: 'answers' | 'entries' | undefined;
    readonly signal?: AbortSignal | undefined;
}

interface ErasePlace {
    readonly table: 'entries' | 'messages';
    readonly last: string;
}

interface ErasedBatch {
    readonly erased: number;
    readonly left: number;
    readonly next: ErasePlace | undefined;
}

interface ErasedScope {
    readonly erased: number;
    readonly left: number;
}

interface ErrorDetails {
    readonly code: HoldfastCode;
    readonly effect: Effect;
    readonly reason?: Reason | undefined;
    readonly operation?: OperationRef | undefined;
    readonly attempts?: readonly AttemptSummary[] | undefined;
    readonly pending?: boolean | undefined;
    readonly retryAt?: number | undefined;
    readonly cause?: unknown;
}

interface EventBase {
    readonly at: number;
}

interface FailedHistory {
    readonly seed: number | string;
    readonly broken: readonly BrokenPromise[];
    readonly without: readonly string[];
    readonly trace: readonly string[];
}

interface Failure {
    readonly answer?: Answer | undefined;
    readonly late?: LateAnswer | undefined;
    readonly unseen?: LateAnswer | undefined;
}

interface FastifyLedgerOptions {
    readonly ledger: GuardedLedger<unknown, never, FastifyRequest>;
}

interface FaultStep extends Timing {
    readonly fault: ScriptedFault;
}

interface Fence {
    readonly namespace: string;
    readonly key: string;
    readonly owner: string;
    readonly epoch: number;
}

interface FingerprintKey {
    readonly id: string;
    readonly secret: Uint8Array;
}

interface FirstInLane {
    readonly do: 'lane';
    readonly namespace: string;
    readonly lane: string;
}

interface FoundEntry {
    readonly entry: Entry;
    readonly now: number;
    readonly owner: 'alive' | 'gone' | 'unsure';
}

interface FoundOperation extends OperationView {
    readonly result: OperationHandle;
}

interface GuardOptions<Tx = unknown, Native = unknown> extends RequestPolicy, AnswerPolicy {
    readonly store: LedgerStore<Tx>;
    readonly scope: (request: Native) => string | Promise<string>;
    readonly authorize: Authorize<Native> | undefined;
    readonly refusal: ShapeRefusal<Native> | undefined;
    readonly native?: Native;
    readonly documentation: string | undefined;
    readonly leaseMs: number;
    readonly timeoutMs: number | undefined;
    readonly storeTimeoutMs: number;
    readonly inFlight: 'reject' | 'wait';
    readonly waitForMs: number;
    readonly waiters: InFlightWaiters;
    readonly observe: ObserveLedger | undefined;
    readonly counters: LedgerCounters;
    readonly reconcile: Reconcile | undefined;
    readonly keyFrom: KeyFrom<unknown> | undefined;
    readonly clock: Clock;
    readonly background: Background;
    readonly reaperWatch: ReaperWatch;
    readonly quota: ScopeQuota | undefined;
    readonly fingerprintKeys: readonly FingerprintKey[];
    readonly decodeBody: (codings: readonly string[], body: Uint8Array) => Uint8Array | undefined;
    readonly digest: (texts: readonly string[], bytes: Uint8Array | null) => string;
}

interface GuardedLedger<Tx = unknown, Returned = EffectReturn, Native = unknown> {
    readonly [GUARD]: MakeGuard<Tx, Returned, Native>;
}

interface HandleSource {
    readonly key: string;
    readonly id: string | undefined;
    readonly accepted: Promise<DurabilityLevel>;
    readonly answer: Promise<Answer>;
    readonly maxReadBytes: number;
    readonly signal?: AbortSignal | undefined;
    cancel(): Promise<void>;
    readonly isLazy?: boolean;
}

interface HangStep extends Timing {
    readonly hang: true;
}

interface HeaderPolicy {
    readonly keepHeaders: ReadonlySet<string>;
    readonly dropHeaders: ReadonlySet<string>;
}

interface Held {
    readonly claim: Claim;
    readonly heldFrom: Moment;
}

interface HistoryOptions {
    readonly without?: ReadonlySet<string> | undefined;
    readonly traced?: boolean | undefined;
    readonly journal?: (() => Journal | Promise<Journal>) | undefined;
    readonly api?: ((clock: Clock) => SimulatedApi | Promise<SimulatedApi>) | undefined;
}

interface HonoIdempotency<Tx = unknown, Returned = EffectReturn> extends IdempotencyContext<Tx, Returned> {
    respond(work: (tx: Tx) => Returned, options?: TransactOptions<Tx>): Promise<Response>;
}

interface HonoLedgerOptions<Native> extends ProtectOptions {
    readonly native: (c: Context) => Native;
}

interface IdempotencyContext<Tx = unknown, Returned = EffectReturn> {
    readonly key: string | undefined;
    readonly scope: string | undefined;
    readonly attempt: number;
    readonly signal: AbortSignal;
    effect(work: (tx: Tx) => Returned, options?: TransactOptions<Tx>): Promise<Reply>;
    deriveKey(label: string): string;
    notDone(): void;
}

interface IdempotencyVariables<Ledger = unknown> {
    idempotency: Ledger extends GuardedLedger<infer Tx, infer Returned, never> ? HonoIdempotency<Tx, Returned> : never;
}

interface InFlightWaiter<Other = never> {
    readonly request: KeyRequest;
    readonly tryAgain: () => Promise<ClaimResult | Other>;
    readonly until: number;
}

interface Inbound<Native = unknown> {
    readonly native: Native;
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly headers: HeaderList;
    readonly body: () => InboundBody | Promise<InboundBody>;
}

interface InboundContext {
    readonly doNotRetry: boolean;
    readonly deadlineAt: number | undefined;
}

interface IndexedDbJournalOptions {
    readonly name?: string | undefined;
    readonly durability?: 'strict' | 'relaxed' | undefined;
}

interface InspectedLedger {
    entries(query?: EntriesQuery): AsyncIterable<Entry>;
    find(scope: string, key: string): Promise<Entry | undefined>;
    metrics(): Promise<LedgerMetrics>;
    resolve?(scope: string, key: string, outcome: Reply | 'rerun'): Promise<boolean>;
}

interface Inspector {
    readonly url: string;
    close(): Promise<void>;
}

interface InspectorOptions {
    readonly client?: Client | undefined;
    readonly ledger?: InspectedLedger | undefined;
    readonly port?: number | undefined;
    readonly token?: string | undefined;
    readonly readOnly?: boolean | undefined;
    readonly redact?: readonly string[] | undefined;
}

interface Journal {
    readonly level: DurabilityLevel;
    open(): Promise<void>;
    execute(commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]>;
    close(): Promise<void>;
    queue?(terms: QueueTerms): CommandQueue<JournalCommand, StorageError>;
    readonly sharedBudget?: SharedBudget | undefined;
    notifyPeers?(message: PeerMessage): void;
    onPeerMessage?(listener: (message: PeerMessage) => void): () => void;
    persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>;
}

interface JournalContractOptions {
    open(): Journal | Promise<Journal>;
    another?: ((journal: Journal) => Journal | Promise<Journal>) | undefined;
    reopen?: ((journal: Journal) => Journal | Promise<Journal>) | undefined;
}

interface JournalFallback {
    readonly fallback: 'memory';
}

interface JournalRow {
    readonly version: number;
    readonly namespace: string;
    readonly key: string;
    readonly id: string | null;
    readonly name: string | null;
    readonly lane: string | null;
    readonly origin: string;
    readonly body: Uint8Array | null;
    readonly status: OperationStatus;
    readonly owner: string | null;
    readonly epoch: number;
    readonly leaseUntil: number;
    readonly dueAt: number;
    readonly notBefore: number;
    readonly laneUntil: number | null;
    readonly deliveryDue: boolean;
    readonly expiresAt: number | null;
    readonly head: string;
    readonly responseBody: Uint8Array | null;
}

interface JudgedAnswer {
    readonly status: number;
    readonly headers: Headers;
    readonly body: Uint8Array | null;
    text(): string;
    json<T = unknown>(): T | undefined;
}

interface KeyHeaderOptions {
    readonly name?: string | undefined;
    readonly format?: 'bare' | 'structured' | undefined;
}

interface KeyRequest {
    readonly scope: string;
    readonly key: string;
    readonly fingerprint: string;
    readonly otherFingerprints?: readonly string[];
    readonly method: string;
    readonly path: string;
    readonly receivedAt?: number | undefined;
    readonly acceptEncoding?: string | undefined;
}

interface Kind {
    readonly kind: string;
}

interface LeaseWatcher {
    readonly onLost: () => void;
    readonly onLapsed: () => void;
}

interface Ledger<Tx = unknown, Returned = EffectReturn, Native = Request> extends GuardedLedger<Tx, Returned, Native> {
    protect<Rest extends unknown[]>(handler: FetchHandler<Tx, Returned, Rest>, options?: ProtectOptions<Request>): (request: Request, ...rest: Rest) => Promise<Response>;
    atomic(handler: (request: AtomicRequest, tx: Tx, context: AtomicContext) => Returned, options?: AtomicOptions): (request: Request) => Promise<Response>;
    once<T>(id: string, work: (tx: Tx) => T | Promise<T>, options: OnceOptions<Tx>): Promise<Once<T>>;
    reap(options?: {
        readonly limit?: number | undefined;
    }): Promise<Reaped>;
    startReaper(options?: ReaperOptions): Reaper;
    find(scope: string, key: string): Promise<Entry | undefined>;
    entries(query?: EntriesQuery): AsyncIterable<Entry>;
    stats(): Promise<LedgerStats>;
    metrics(): Promise<LedgerMetrics>;
    erase(scope: string, options?: EraseOptions): Promise<ErasedScope>;
    resolve(scope: string, key: string, outcome: Reply | 'rerun'): Promise<boolean>;
    close(): Promise<void>;
}

interface LedgerContractOptions<Tx = unknown> {
    open(): Eventually<LedgerStore<Tx>>;
    another?: ((store: LedgerStore<Tx>) => Eventually<LedgerStore<Tx>>) | undefined;
    readonly effects: {
        write(tx: Tx, name: string): Eventually<void>;
        count(name: string, store: LedgerStore<Tx>): Eventually<number>;
    };
    readonly synchronous?: boolean | undefined;
    inTransaction?: ((store: LedgerStore<Tx>, work: (tx: Tx) => Promise<void>, end: 'commit' | 'rollback') => Promise<void>) | undefined;
}

interface LedgerCounts {
    readonly claimed: number;
    readonly takenOver: number;
    readonly recorded: number;
    readonly replayed: number;
    readonly released: number;
    readonly abandoned: number;
    readonly refused: Readonly<Partial<Record<RefusalReason, number>>>;
    readonly claimsLost: number;
    readonly handlersFailed: number;
    readonly storeFailures: number;
}

interface LedgerEncryption extends Encryption {
    readonly only?: boolean | undefined;
}

interface LedgerGauges {
    readonly at: number;
    readonly entries: number | undefined;
    readonly unknown: number;
    readonly oldestUnknownAt: number | undefined;
    readonly oldestExpiresAt: number | undefined;
}

interface LedgerGuard<Tx = unknown, Returned = EffectReturn, Native = unknown> {
    readonly begin: (inbound: Inbound<Native>) => Promise<Begun<Tx, Returned>>;
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
}

interface LedgerMetrics {
    readonly counters: LedgerCounts;
    readonly inFlight: number;
    readonly durations: {
        readonly count: number;
        readonly sumMs: number;
        readonly maxMs: number;
    };
    readonly store: LedgerGauges | undefined;
}

interface LedgerOptions<Tx = unknown, Returned = unknown, Native = Request> extends ProtectOptions<Native> {
    readonly store: LedgerStore<Tx, Returned>;
    readonly scope: string | ((request: Native) => string | Promise<string>);
    readonly authorize?: Authorize<Native> | undefined;
    readonly refusal?: ShapeRefusal<Native> | undefined;
    readonly documentation?: string | undefined;
    readonly retention?: Duration | undefined;
    readonly lease?: Duration | undefined;
    readonly timeout?: Duration | undefined;
    readonly inFlight?: 'reject' | 'wait' | undefined;
    readonly waitFor?: Duration | undefined;
    readonly required?: boolean | undefined;
    readonly methods?: readonly string[] | undefined;
    readonly keyHeader?: string | undefined;
    readonly store5xx?: boolean | undefined;
    readonly maxResponseBytes?: number | undefined;
    readonly maxRequestBytes?: number | undefined;
    readonly keepHeaders?: readonly string[] | undefined;
    readonly dropHeaders?: readonly string[] | undefined;
    readonly storeTimeout?: Duration | undefined;
    readonly quota?: Quota | false | undefined;
    readonly encryption?: LedgerEncryption | undefined;
    readonly fingerprintKey?: FingerprintSecret | readonly FingerprintSecret[] | undefined;
    readonly observe?: ObserveLedger | undefined;
    readonly telemetry?: LedgerTelemetry | undefined;
    readonly clock?: Clock | undefined;
}

interface LedgerStats {
    readonly running: number;
    readonly done: number;
    readonly unknown: number;
    readonly expired: number;
    readonly messages: number;
}

interface LedgerStore<Tx = unknown, Returned = unknown> {
    readonly name: string;
    readonly synchronous?: boolean;
    readonly returned?: Returned;
    insert(draft: EntryDraft): Promise<Insertion>;
    takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined>;
    renew(claim: Claim, lease: {
        readonly leaseMs: number;
        readonly now: number;
    }): Promise<boolean>;
    complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean>;
    release(claim: Claim): Promise<boolean>;
    abandon(claim: Claim, now: number, since?: number): Promise<boolean>;
    transact(transaction: Transaction<Tx>): Promise<Outcome>;
    atomic(run: AtomicRun<Tx>): Promise<AtomicOutcome>;
    consume(message: MessageDraft, consumption: Consumption<Tx>): Promise<Consumed>;
    find(scope: string, key: string): Promise<Entry | undefined>;
    reap(options: ReapOptions): Promise<Reaped>;
    entries(query: EntriesQuery): AsyncIterable<Entry>;
    stats(now: number): Promise<LedgerStats>;
    count(scope: string, atMost: number): Promise<number>;
    erase(batch: EraseBatch): Promise<ErasedBatch>;
    gauges(now: number): Promise<LedgerGauges>;
    close(): Promise<void>;
}

interface LedgerTelemetry {
    ledgerObserver(next: ObserveLedger | undefined): ObserveLedger;
    attachLedger(ledger: {
        metrics(): Promise<LedgerMetrics>;
    }): () => void;
}

interface LimitHeaders {
    readonly doNotRetry?: string | undefined;
    readonly timeout?: string | undefined;
}

interface LimitOptions {
    readonly concurrency?: number | undefined;
    readonly perSecond?: number | undefined;
}

interface List {
    readonly do: 'list';
    readonly namespace: string;
    readonly status?: OperationStatus | undefined;
    readonly undelivered?: true | undefined;
    readonly after: number;
    readonly limit: number;
}

interface ManualClock extends Clock {
    after(ms: number, callback: () => void): () => void;
    advance(by: Duration): Promise<void>;
    background(ms: number, callback: () => void): () => void;
    pending(): number;
    next(): number | undefined;
}

interface MemoryTransaction {
    onRollback(undo: () => void): void;
}

interface MessageDraft {
    readonly scope: string;
    readonly id: string;
    readonly retentionMs: number;
    readonly leaseMs?: number | undefined;
    readonly now: number;
}

interface Moment {
    readonly now: number;
    readonly elapsed: number;
}

interface NodeHandlerOptions extends ProtectOptions {
    readonly onError?: ((error: unknown) => void) | undefined;
}

interface ObservedLedger {
    metrics(): Promise<{
        readonly inFlight: number;
        readonly store: {
            readonly at: number;
            readonly entries: number | undefined;
            readonly unknown: number;
            readonly oldestUnknownAt: number | undefined;
            readonly oldestExpiresAt: number | undefined;
        } | undefined;
    }>;
}

interface ObservedLedgerEvent {
    readonly type: string;
    readonly at: number;
    readonly method?: string;
    readonly path?: string;
    readonly key?: string | undefined;
    readonly status?: number | undefined;
    readonly reason?: string;
    readonly durationMs?: number | undefined;
}

interface OfEntry extends OfRequest {
    readonly scope: string;
    readonly key: string;
}

interface OfOperation extends EventBase {
    readonly operation: OperationRef;
    readonly method: string;
    readonly url: string;
}

interface OfRequest extends Timed {
    readonly method: string;
    readonly path: string;
    readonly durationMs?: number | undefined;
}

interface Once<T> {
    readonly duplicate: boolean;
    readonly value: T;
}

interface OnceOptions<Tx> extends TransactOptions<Tx> {
    readonly scope: string;
    readonly retention?: Duration | undefined;
}

interface OpenTelemetry extends Telemetry {
    ledgerObserver<Event extends ObservedLedgerEvent>(next: ((event: Event) => void) | undefined): (event: Event) => void;
    attachLedger(ledger: ObservedLedger): () => void;
}

interface OpenTelemetryOptions {
    readonly tracerProvider?: TracerProvider | undefined;
    readonly meterProvider?: MeterProvider | undefined;
    readonly attributes?: Attributes | undefined;
    readonly networkSpans?: 'suppressed' | 'nested' | undefined;
    readonly propagateTo?: ((url: string) => boolean) | undefined;
    readonly pendingLimit?: number | undefined;
}

interface OperationRef {
    readonly key: string;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
}

interface OperationView {
    readonly key: string;
    readonly id: string | undefined;
    readonly name: string | undefined;
    readonly metadata: Json | undefined;
    readonly lane: string | undefined;
    readonly holdsLane: boolean;
    readonly status: 'pending' | SettledStatus;
    readonly attempts: number;
    readonly acceptedAt: number;
    readonly method: string;
    readonly url: string;
    readonly effect: Effect;
    readonly inFlight: boolean;
    readonly horizonAt: number;
    readonly nextAttemptAt: number | undefined;
    readonly reason: ViewReason | undefined;
}

interface OperationsQuery {
    readonly status?: OperationStatus | undefined;
    readonly limit?: number | undefined;
    readonly after?: string | undefined;
}

interface OriginGauges {
    readonly origin: string;
    readonly tokens: number;
    readonly waiting: number;
    readonly inFlight: number;
    readonly waitedMs: number;
}

interface OriginView {
    readonly state: GatePhase;
    readonly waiting: number;
    readonly inFlight: number;
    readonly tokens: number;
    readonly nextAttemptAt: number | undefined;
    readonly lastSuccessAt: number | undefined;
    readonly reason: string | undefined;
}

interface OverloadedOptions {
    readonly retryAfter?: Duration | undefined;
    readonly detail?: string | undefined;
}

interface ParsedBody {
    readonly json: unknown;
}

interface PeerMessage {
    readonly is: 'pending' | 'settled' | 'left' | 'forgotten' | 'level';
    readonly namespace: string;
    readonly key: string;
    readonly level?: unknown;
    readonly lane?: string | undefined;
}

interface PlacedRow extends JournalRow {
    readonly place: number;
}

interface PostgresClient extends PostgresQueryable {
    release(destroy?: boolean): void;
    on(event: 'error', listener: (error: Error) => void): unknown;
    removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

interface PostgresJournalOptions {
    readonly pool?: PostgresPool | undefined;
    readonly connectionString?: string | undefined;
    readonly schema?: string | undefined;
    readonly migrate?: boolean | undefined;
    readonly requireSynchronousStandby?: boolean | undefined;
    readonly sharedBudget?: boolean | undefined;
}

interface PostgresLedgerOptions<Pool extends PostgresPool = PostgresPool> {
    readonly pool?: Pool | undefined;
    readonly connectionString?: string | undefined;
    readonly schema?: string | undefined;
    readonly migrate?: boolean | undefined;
    readonly requireSynchronousStandby?: boolean | undefined;
}

interface PostgresPool extends PostgresQueryable {
    readonly waitingCount?: number;
    connect(): Promise<PostgresClient>;
    end(): Promise<void>;
}

interface PostgresQueryable {
    query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

interface PostgresResult {
    readonly command: string;
    readonly rowCount: number | null;
    readonly rows: readonly unknown[];
}

interface PreparedOperation {
    readonly key: string;
    readonly id: string | undefined;
    readonly name: string | undefined;
    readonly method: string;
    readonly url: string;
    persist(transaction: unknown): void | Promise<void>;
}

interface Problem {
    readonly type: string;
    readonly status: number;
    readonly title: string;
    readonly detail: string;
}

interface ProblemDetails {
    readonly type?: string;
    readonly title?: string;
    readonly status?: number;
    readonly detail?: string;
    readonly instance?: string;
    readonly [extension: string]: unknown;
}

interface ProtectOptions<Native = unknown> {
    readonly external?: boolean | undefined;
    readonly reconcile?: Reconcile | undefined;
    readonly onAbandoned?: OnAbandoned | undefined;
    readonly keyFrom?: KeyFrom<Native> | undefined;
    readonly isFinal?: IsFinal | undefined;
}

interface Protection {
    readonly external: boolean;
    readonly onAbandoned: OnAbandoned | undefined;
    readonly reconcile: Reconcile | undefined;
    readonly keyFrom?: KeyFrom<unknown> | undefined;
}

interface QueueTerms {
    readonly turn?: (() => Promise<void>) | undefined;
    readonly now?: (() => number) | undefined;
}

interface Queued<Command, Failure> {
    readonly command: Command;
    readonly resolve: (result: never) => void;
    readonly reject: (error: Failure) => void;
}

interface QuotaOptions {
    readonly quota: Quota;
    readonly onNearlyFull?: ((limit: number) => void) | undefined;
}

interface Read {
    readonly do: 'read';
    readonly namespace: string;
    readonly keyOrId: string;
}

interface ReapOptions {
    readonly limit: number;
    readonly now: number;
    readonly onAbandoned?: ((entry: Entry) => void) | undefined;
}

interface Reaped {
    readonly deleted: number;
    readonly abandoned: number;
    readonly more: boolean;
}

interface Reaper {
    stop(): Promise<void>;
}

interface ReaperOptions {
    readonly every?: Duration | undefined;
    readonly limit?: number | undefined;
    readonly reconcile?: boolean | undefined;
}

interface ReconcileContext {
    deriveKey(label: string): string;
}

interface ReconciledOutcome {
    readonly status: SettledStatus;
    readonly effect?: Effect | undefined;
    readonly response?: Response | undefined;
}

interface RecordedAnswer {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
    readonly bodyOmitted: boolean;
}

interface RefusedClaim {
    readonly kind: 'refused';
    readonly reason: Extract<Admission, {
        kind: 'refuse';
    }>['reason'];
}

interface Register {
}

interface Reply {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
}

interface ReplyInit {
    readonly status?: number | undefined;
    readonly headers?: Readonly<Record<string, string>> | HeaderList | Headers | undefined;
}

interface RequestPolicy {
    readonly methods: ReadonlySet<string>;
    readonly required: boolean;
    readonly keyHeader: string;
    readonly retentionMs: number;
    readonly maxRequestBytes: number;
}

interface ResumeOptions {
    readonly continuous?: boolean | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly concurrency?: number | undefined;
}

interface Resuming {
    resume(): Promise<{
        readonly pending: number;
    }>;
}

interface RetryBudget {
    level(origin: string, now: number): number;
}

interface RetryCallOptions {
    readonly signal?: AbortSignal | undefined;
    readonly deadline?: Duration | undefined;
}

interface RetryContext {
    readonly attempt: number;
    readonly method: string;
    readonly url: string;
    readonly status: number | undefined;
    readonly headers: Headers;
    readonly fault: string | undefined;
}

interface RetryContextOptions<Source = InboundSource> extends LimitHeaders {
    readonly trust?: {
        call(request: Source): boolean;
    }['call'] | undefined;
    readonly minTimeout?: Duration | undefined;
    readonly clock?: Clock | undefined;
}

interface RetryContexts {
    run<T, Source extends InboundSource>(request: Source, serve: () => T, options?: RetryContextOptions<Source>): T;
    current(): InboundContext | undefined;
    outside<T>(work: () => T): T;
}

interface RetryOptions {
    readonly jitter?: Jitter | undefined;
    readonly base?: Duration | undefined;
    readonly cap?: Duration | undefined;
    readonly maxAttempts?: number | undefined;
    readonly statuses?: readonly number[] | undefined;
    readonly shouldRetry?: ((context: RetryContext) => boolean | undefined) | undefined;
}

interface RolledBack<Kind, Answer> {
    readonly kind: Kind;
    readonly answer?: Answer;
    readonly error?: unknown;
}

interface ScriptedCall {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
    readonly text: string;
    readonly at: number;
}

interface ScriptedFetch extends FetchLike {
    readonly calls: readonly ScriptedCall[];
}

interface ScriptedFetchOptions {
    readonly clock?: Clock | undefined;
}

interface Sender {
    send(request: never): unknown;
}

interface Settlement {
    readonly operation: {
        readonly key: string;
        readonly id: string | undefined;
        readonly name: string | undefined;
        readonly metadata: Json | undefined;
        readonly attempts: number;
    };
    readonly status: SettledStatus;
    readonly response: Response | undefined;
    readonly error: HoldfastError | undefined;
    readonly replayed: boolean;
    readonly mayHaveRepeated: boolean;
}

interface SettlementOf<Metadata> extends Omit<Settlement, 'operation'> {
    readonly operation: Omit<Settlement['operation'], 'metadata'> & {
        readonly metadata: Metadata;
    };
}

interface SharedBudget {
    take(origin: string, own: OwnBucket): Promise<boolean>;
    deposit(origin: string, amount: number): void;
}

interface SharedOptions {
    readonly durability?: SqliteDurability | undefined;
}

interface SimulateOptions extends Pick<HistoryOptions, 'journal' | 'api'> {
    readonly histories?: number | undefined;
    readonly seed?: number | undefined;
    readonly minutes?: number | undefined;
    readonly without?: readonly string[] | undefined;
    readonly onProgress?: ((progress: SimulationProgress) => void) | undefined;
    readonly stopAfter?: number | undefined;
}

interface SimulatedApi {
    fetch(request: Request): Response | Promise<Response>;
    effects(key: string): number | Promise<number>;
}

interface SimulationProgress {
    readonly histories: number;
    readonly of: number;
    readonly elapsedMs: number;
    readonly crashes: number;
    readonly resumes: number;
    readonly requests: number;
    readonly retries: number;
    readonly failures: number;
}

interface SimulationReport extends SimulationProgress {
    readonly failed: readonly FailedHistory[];
    readonly coverage: CoverageCounts;
    readonly missing: readonly string[];
}

interface SqliteDatabase {
    readonly name: string;
    readonly open: boolean;
    readonly inTransaction: boolean;
    readonly memory: boolean;
    readonly readonly: boolean;
    prepare(source: string): SqliteStatement;
    exec(source: string): unknown;
    pragma(source: string, options?: {
        simple?: boolean | undefined;
    }): unknown;
    close(): unknown;
}

interface SqliteFileOptions extends SharedOptions {
    readonly path: string;
    readonly database?: undefined;
}

interface SqliteHandleOptions extends SharedOptions {
    readonly database: SqliteDatabase;
    readonly path?: undefined;
}

interface SqliteLedgerFileOptions extends SharedOptions {
    readonly path: string;
    readonly database?: undefined;
}

interface SqliteLedgerHandleOptions<D extends SqliteDatabase> extends SharedOptions {
    readonly database: D;
    readonly path?: undefined;
}

interface SqliteStatement {
    run(...values: unknown[]): {
        readonly changes: number;
        readonly lastInsertRowid: number | bigint;
    };
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown[];
    safeIntegers(toggle?: boolean): unknown;
}

interface StatementRunner {
    query(text: string): Promise<{
        readonly rows: readonly unknown[];
    }>;
}

interface StoredResponse {
    readonly status: number;
    readonly statusText: string;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
    readonly bodyOmitted: boolean;
    readonly url: string;
    readonly redirected: boolean;
}

interface StreamedAnswer extends Answer {
    readonly streamed: true;
}

interface Survey extends DueFilter {
    readonly do: 'survey';
    readonly namespace: string;
    readonly now: number;
}

interface SurveyResult {
    readonly owners: readonly string[];
    readonly nextDueAt: number | undefined;
}

interface SynchronousEncryption {
    readonly only: boolean;
    seal(bytes: Uint8Array): Uint8Array;
    open(bytes: Uint8Array): Uint8Array;
    fingerprintKeys(): readonly Uint8Array[];
}

interface Telemetry {
    observer(next: Observer | undefined): Observer;
    traceCall(work: TracedCall, terms: {
        readonly keyed: boolean;
    }): WorkTrace;
    traceResume(record: TracedRecord): WorkTrace;
    traceRecord(): string | undefined;
    attach(client: ClientGauges, closing: AbortSignal): void;
}

interface Timed {
    readonly at: number;
}

interface Timing {
    readonly delay?: number | undefined;
    readonly repeat?: boolean | undefined;
}

interface TracedCall {
    readonly method: string;
    readonly operation: OperationRef;
}

interface TracedRecord extends OperationRef {
    readonly trace?: string | undefined;
    readonly request: {
        readonly method: string;
        readonly url: string;
    };
}

interface TransactOptions<Tx> {
    readonly transaction?: BegunTransaction<Tx> | undefined;
    readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined;
}

interface Transaction<Tx> {
    readonly claim: Claim | null;
    readonly now: number;
    readonly leaseMs?: number | undefined;
    readonly effectLeaseMs?: number | undefined;
    readonly work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>;
    readonly options: TransactOptions<Tx>;
}

interface WorkTrace {
    readonly record: string | undefined;
    attempt<T extends Sender>(transport: T, record: TracedRecord, number: number): T;
    endWith(result: Promise<unknown>, operation: {
        readonly key: string;
    }): void;
}

interface Write extends Fence {
    readonly do: 'write';
    readonly change: RowChange | Pick<RowChange, 'leaseUntil'> | 'remove' | 'set-aside';
}

type AdapterOptions = {
    readonly [name: string]: (option: string, value: unknown) => unknown;
};

type Admission = {
    readonly kind: 'replay';
} | {
    readonly kind: 'refuse';
    readonly reason: AdmissionRefusal;
} | {
    readonly kind: 'take-over';
    readonly next: 'run' | 'reconcile' | 'hold';
};

type AdmissionRefusal = 'key-reused' | 'in-flight' | 'outcome-unknown' | 'written-by-newer' | 'other-version';

type AesKey = Uint8Array | CryptoKeyLike;

type AnswerRest = ReadableStream<Uint8Array> | Response;

type AnyHoldfastError = ConfigurationError | BodyError | NotSentError | RejectedError | KeyReuseError | IndeterminateError | StorageError | (HoldfastError & {
    readonly code: CodesOf['LedgerError'];
});

type AppendResult = {
    readonly appended: true;
} | {
    readonly appended: false;
    readonly existing: PlacedRow;
};

type AtomicContext = Pick<IdempotencyContext, 'key' | 'scope' | 'deriveKey'>;

type AtomicOutcome = Exclude<Outcome, {
    kind: 'uncommitted' | 'abandoned';
}> | {
    readonly kind: 'found';
    readonly found: FoundEntry;
} | {
    readonly kind: 'in-flight';
    readonly request: 'same' | 'other';
};

type Authorize<Native> = (request: Native) => Reply | Response | undefined | Promise<Reply | Response | undefined>;

type Begun<Tx = unknown, Returned = EffectReturn> = {
    readonly kind: 'answered';
    readonly answer: Answer;
} | {
    readonly kind: 'run';
    readonly session: Session & {
        readonly context: IdempotencyContext<Tx, Returned>;
    };
};

type BegunTransaction<Tx> = Tx extends StatementRunner ? StatementRunner : Tx;

type BodyInput = string | Uint8Array | ArrayBuffer | ArrayBufferView | Blob | URLSearchParams | FormData | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

type ClaimResult = (Held & {
    readonly kind: 'claimed';
    readonly from: Entry | undefined;
    readonly next: NextStep;
}) | {
    readonly kind: 'replay';
    readonly entry: Entry;
} | RefusedClaim;

type ClientOf<Pool> = Pool extends {
    readonly connect: {
        (): Promise<infer Client>;
        (callback: infer _Callback): void;
    };
} ? Client : PostgresClient;

type ClientPoint = `${Write}:${Stage}` | (typeof POINTS_BESIDE)[number];

type CoverageCounts = Record<CoverageKind, Record<string, number>>;

type CoverageKind = keyof typeof EXPECTED;

type CrashPoint = `${JournalMoment}:${'asked' | 'durable'}` | `send:${SendMoment}`;

type CredentialsMode = 'omit' | 'same-origin' | 'include';

type Details<Name extends keyof CodesOf, Known extends Effect> = Omit<ErrorDetails, 'code' | 'effect'> & {
    readonly code?: CodesOf[Name];
    readonly effect: Known;
};

type DurabilityLevel = 'memory' | 'process' | 'power';

type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

type Effect = 'none' | 'unknown' | 'applied';

type EffectReturn = Reply | Response | Promise<Reply | Response>;

type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>;

type EntryState = 'running' | 'done' | 'unknown';

type Eventually<T> = T | Promise<T>;

type FetchHandler<Tx, Returned, Rest extends unknown[]> = (request: Request, context: IdempotencyContext<Tx, Returned>, ...rest: Rest) => Response | Reply | Promise<Response | Reply>;

type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

type FingerprintSecret = Uint8Array | string;

type GatePhase = 'healthy' | 'failing' | 'open';

type HeaderList = readonly (readonly [
    name: string,
    value: string
])[];

type HeaderSource = {
    get(name: string): string | null;
} | HeaderList | {
    readonly [name: string]: string | readonly string[] | undefined;
};

type HeadersFunction = (attempt: AttemptContext) => HeadersInput | Promise<HeadersInput>;

type HeadersInput = Headers | readonly (readonly [
    string,
    string
])[] | {
    readonly [name: string]: string | undefined;
};

type HeadersOption = HeadersInput | HeadersFunction;

type HoldfastCode = CodesOf[keyof CodesOf];

type HoldfastEvent = (OfOperation & {
    readonly type: 'operation.accepted';
    readonly durability: 'memory' | 'process' | 'power';
}) | (OfOperation & {
    readonly type: 'attempt.started';
    readonly attempt: number;
}) | (OfOperation & {
    readonly type: 'attempt.ended';
    readonly attempt: AttemptSummary;
    readonly effect: Effect;
}) | (OfOperation & {
    readonly type: 'operation.waiting';
    readonly until: number;
    readonly reason: Reason;
    readonly error?: unknown;
}) | (OfOperation & {
    readonly type: 'operation.settled';
    readonly status: 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';
    readonly reason: Reason | undefined;
    readonly effect: Effect;
    readonly attempts: number;
    readonly replayed: boolean;
    readonly mayHaveRepeated: boolean;
}) | (OfOperation & {
    readonly type: 'operation.resumed';
    readonly attempts: number;
}) | (OfOperation & {
    readonly type: 'lease.lost';
}) | (EventBase & {
    readonly type: 'horizon.shortened';
    readonly origin: string;
    readonly key: string;
    readonly windowMs: number;
    readonly horizonAt: number;
}) | (EventBase & {
    readonly type: 'budget.exhausted';
    readonly origin: string;
}) | (EventBase & {
    readonly type: 'breaker.changed';
    readonly origin: string;
    readonly from: 'closed' | 'open' | 'half-open';
    readonly to: 'closed' | 'open' | 'half-open';
}) | (EventBase & {
    readonly type: 'journal.unattended';
    readonly operations: number;
    readonly oldestAt: number;
}) | (EventBase & {
    readonly type: 'journal.failed';
    readonly error: Error;
    readonly key?: string | undefined;
});

type HonoursKeys = boolean | ((url: string, method: string) => boolean);

type Idempotent<Req, Tx = unknown, Returned = EffectReturn> = {
    readonly idempotency: IdempotencyContext<Tx, Returned>;
} & Req;

type InboundBody = Uint8Array | ParsedBody | null;

type InboundSource = HeaderSource | {
    readonly headers: HeaderSource;
};

type Insertion = {
    readonly kind: 'inserted';
    readonly claim: Claim;
} | {
    readonly kind: 'found';
    readonly found: FoundEntry;
};

type IsFinal = (answer: JudgedAnswer) => boolean | undefined;

type Jitter = 'full' | 'equal' | 'decorrelated' | 'none';

type JournalCommand = Append | Write | ClaimDue | ClaimByKey | Read | List | FirstInLane | Survey | DropNamespace | DropExpired;

type JournalMoment = 'append' | 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' | 'renew' | 'claim';

type JournalResult = CommandResults[keyof CommandResults];

type Json = string | number | boolean | null | readonly Json[] | {
    readonly [key: string]: Json;
};

type KeyFrom<Native> = {
    call(request: Native): string | null | undefined | Promise<string | null | undefined>;
}['call'];

type LaneOnFailure = 'stop' | 'continue';

type LateAnswer = Promise<Answer | undefined>;

type LedgerCall = (typeof LEDGER_CALLS)[number];

type LedgerEvent = (OfEntry & {
    readonly type: 'entry.claimed';
    readonly attempt: number;
    readonly takenOver: boolean;
}) | (OfEntry & {
    readonly type: 'entry.recorded';
    readonly status: number;
    readonly bodyOmitted: boolean;
}) | (OfEntry & {
    readonly type: 'entry.replayed';
    readonly status: number;
}) | (OfEntry & {
    readonly type: 'entry.released';
    readonly status: number | undefined;
    readonly error?: unknown;
}) | (OfEntry & {
    readonly type: 'entry.abandoned';
    readonly status?: number | undefined;
    readonly error?: unknown;
    readonly unknownSince?: number | undefined;
}) | (OfEntry & {
    readonly type: 'claim.lost';
}) | (OfEntry & {
    readonly type: 'handler.failed';
    readonly error: unknown;
}) | (OfRequest & {
    readonly type: 'request.refused';
    readonly reason: RefusalReason;
    readonly scope: string | undefined;
    readonly key: string | undefined;
}) | (Timed & {
    readonly type: 'ledger.failed';
    readonly error: unknown;
}) | (Timed & {
    readonly type: 'scope.erased';
    readonly scope: string;
    readonly what: 'answers' | 'entries';
    readonly erased: number;
    readonly left: number;
}) | (Timed & {
    readonly type: 'reaper.passed';
    readonly deleted: number;
    readonly abandoned: number;
    readonly reconciled: number;
    readonly unknown: number;
    readonly oldestUnknownAt: number | undefined;
    readonly durationMs: number;
}) | (Timed & {
    readonly type: 'reaper.overdue';
    readonly oldestExpiredAt: number;
});

type LedgerPoint = `ledger:${LedgerCall}:${'asked' | 'done'}` | (typeof LEDGER_POINTS_BESIDE)[number];

type MakeGuard<Tx = unknown, Returned = EffectReturn, Native = unknown> = (options?: ProtectOptions<Native>, own?: AdapterOptions) => LedgerGuard<Tx, Returned, Native>;

type Middleware<Tx, Returned> = MiddlewareHandler<{
    Variables: {
        idempotency: HonoIdempotency<Tx, Returned>;
    };
}>;

type NextFunction = (error?: unknown) => void;

type NextStep = Extract<Admission, {
    kind: 'take-over';
}>['next'];

type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

type ObserveLedger = (event: LedgerEvent) => void;

type Observer = (event: HoldfastEvent) => void;

type OnAbandoned = 'rerun' | 'hold';

type OperationStatus = 'pending' | SettledStatus;

type Outcome<Answer = RecordedAnswer> = {
    readonly kind: 'recorded';
    readonly writes: 'committed' | 'rolled-back';
    readonly answer: Answer;
} | {
    readonly kind: 'uncommitted';
    readonly answer: Answer;
} | RolledBack<'kept', Answer> | RolledBack<'released', Answer> | RolledBack<'abandoned', Answer> | {
    readonly kind: 'lost';
} | {
    readonly kind: 'in-doubt';
    readonly error: unknown;
};

type OwnBucket = Readonly<Record<'tokens' | 'burst' | 'rest' | 'reservePerSecond', number>>;

type PlainStep = AnswerStep | FaultStep | HangStep;

type PostgresTransaction<Pool extends PostgresPool = PostgresPool> = Omit<ClientOf<Pool>, 'release'>;

type PromiseName = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P8' | 'P9' | 'P11' | 'lanes';

type Quota = number | ((scope: string) => number | undefined);

type Random = () => number;

type Reason = 'attempts' | 'deadline' | 'horizon' | 'budget' | 'breaker' | 'do-not-retry' | 'status' | 'aborted' | 'not-replayable' | 'storage' | 'key-reuse' | 'lease-lost' | 'auth' | 'poison' | 'network' | 'lane';

type Reconcile = (entry: Entry, context: ReconcileContext) => Reconciled | Promise<Reconciled>;

type Reconciled = Reply | Response | 'rerun' | undefined;

type RefusalReason = 'body-too-large' | 'key-missing' | 'key-malformed' | 'key-reused' | 'in-flight' | 'outcome-unknown' | 'window-passed' | 'quota-exceeded' | 'unavailable' | 'written-by-newer' | 'other-version';

type RegisteredContext = Register extends {
    ledger: GuardedLedger<infer Tx, infer Returned, never>;
} ? IdempotencyContext<Tx, Returned> : IdempotencyContext<never, EffectReturn>;

type ResponseOf<Req> = Req extends {
    readonly res?: infer Res;
} ? ServerResponse & Res : ServerResponse;

type ResumeReport = {
    claimed: number;
    pending: number;
} & Record<SettledStatus, number>;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'lane' | 'origin' | 'body' | 'epoch'>;

type ScriptedFault = 'refused' | 'reset' | 'timeout' | 'dns' | Error;

type ScriptedStep = PlainStep | StepFunction;

type SeededRandom = Random & {
    readonly seed: number | string;
};

type SendMoment = 'leaving' | 'travelling' | 'answered';

type ServiceWorkerScope = Pick<EventTarget, 'addEventListener'>;

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';

type SettlementHandler = (settlement: Settlement) => unknown;

type SettlementHandlerOf<Metadata> = (settlement: SettlementOf<Metadata>) => unknown;

type ShapeRefusal<Native> = {
    call(problem: Problem, request: Native): Reply | undefined;
}['call'];

type SimulatedCrashPoint = ClientPoint | LedgerPoint;

type SqliteDurability = 'full' | 'process';

type SqliteJournalOptions = SqliteFileOptions | SqliteHandleOptions;

type SqliteLedgerOptions<D extends SqliteDatabase = SqliteDatabase> = SqliteLedgerHandleOptions<D> | SqliteLedgerFileOptions;

type Stage = (typeof STAGES)[number];

type StepFunction = (call: ScriptedCall, n: number) => StepResult | Promise<StepResult>;

type StepResult = PlainStep | Response;

type UntimedEvent = Without<Exclude<LedgerEvent, {
    type: 'reaper.passed';
}>, 'at' | 'durationMs'> | Without<Extract<LedgerEvent, {
    type: 'reaper.passed';
}>, 'at'>;

type ViewReason = Reason | 'undelivered';

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never;

type WithoutAnswer = 'released' | 'abandoned';

type WorkOutcome<Answer = RecordedAnswer> = Extract<Outcome<Answer>, {
    kind: 'recorded' | 'kept' | 'released' | 'abandoned';
}>;

type Write = (typeof WRITES)[number];
