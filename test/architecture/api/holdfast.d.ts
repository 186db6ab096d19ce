// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { AnyHoldfastError, AttemptContext, AttemptSummary, BodyError, BodyInput, BreakerOptions, BudgetOptions, CallContext, CallOptions, Client, ClientOptions, Clock, ConfigurationError, DispatcherLike, DoNotRetryOptions, DurabilityLevel, Duration, Effect, Encryption, FetchLike, FoundOperation, HeadersInput, HeadersOption, HoldfastCode, HoldfastError, HoldfastEvent, IndeterminateError, Jitter, Journal, JournalCommand, JournalFallback, JournalResult, JournalRow, Json, KeyHeaderOptions, KeyReuseError, NotSentError, Observer, OperationHandle, OperationRef, OperationStatus, OperationView, OperationsQuery, PreparedOperation, ProblemDetails, Random, Reason, ReconciledOutcome, RejectedError, ResumeOptions, ResumeReport, RetryBudget, RetryCallOptions, RetryContext, RetryOptions, SettledStatus, Settlement, SettlementHandler, SettlementHandlerOf, SettlementOf, StorageError, aesGcm, createClient, createRetryBudget, isHoldfastError, memoryJournal }

declare class BodyError extends HoldfastError {
    name: string;
    readonly code: CodesOf['BodyError'];
    readonly response: Response | undefined;
    constructor(message: string, details: Details<'BodyError', 'none' | 'applied'> & Pick<AnswerDetails, 'response'>);
}

declare class ConfigurationError extends HoldfastError {
    name: string;
    readonly code: CodesOf['ConfigurationError'];
    constructor(message: string, details?: Partial<Details<'ConfigurationError', Effect>>);
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

declare class RejectedError extends HoldfastError {
    name: string;
    readonly code: CodesOf['RejectedError'];
    readonly operation: OperationRef;
    readonly response: Response;
    readonly problem: ProblemDetails | undefined;
    constructor(message: string, details: Details<'RejectedError', 'none' | 'unknown'> & AnswerDetails);
}

declare class StorageError extends HoldfastError {
    name: string;
    readonly code: CodesOf['StorageError'];
    constructor(message: string, details?: Partial<Details<'StorageError', Effect>>);
}

declare function aesGcm(key: Uint8Array | CryptoKeyLike): Encryption;

declare function createClient(options?: ClientOptions): Client;

declare function createRetryBudget(options?: BudgetOptions): RetryBudget;

declare function isHoldfastError(error: unknown): error is AnyHoldfastError;

declare function memoryJournal(): Journal;

interface Answer {
    readonly response: StoredResponse;
    readonly rest: AnswerRest | undefined;
    readonly operation: OperationRef;
    readonly attempts: readonly AttemptSummary[];
}

interface AnswerDetails {
    readonly response?: Response | undefined;
    readonly problem?: ProblemDetails | undefined;
}

interface Append {
    readonly do: 'append';
    readonly row: JournalRow;
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

interface BreakerOptions {
    readonly minimumRequests?: number | undefined;
    readonly openFor?: Duration | undefined;
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
    readonly accept?: ((response: Response) => boolean | Promise<boolean>) | undefined;
}

interface ClaimByKey extends Claimant {
    readonly do: 'claim';
    readonly key: string;
    readonly statuses: readonly OperationStatus[];
}

interface ClaimDue extends Claimant, DueFilter {
    readonly do: 'claim';
    readonly after: number;
    readonly limit: number;
    readonly dueBy: number;
}

interface Claimant {
    readonly namespace: string;
    readonly owner: string;
    readonly now: number;
    readonly leaseUntil: number;
    readonly deadOwners: readonly string[];
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
    retry(keyOrId: string, options?: RetryCallOptions): OperationHandle;
    cancel(keyOrId: string): Promise<boolean>;
    forget(): Promise<number>;
    budget(origin: string): number;
    prepare(method: string, url: string | URL, options?: CallOptions): Promise<PreparedOperation>;
    send(operation: PreparedOperation): OperationHandle;
    flush(): Promise<void>;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

interface ClientOptions {
    readonly honoursKeys?: HonoursKeys | undefined;
    readonly baseUrl?: string | URL | undefined;
    readonly headers?: HeadersOption | undefined;
    readonly credentials?: CredentialsMode | undefined;
    readonly durable?: boolean | undefined;
    readonly trustedOrigins?: readonly (string | URL)[] | undefined;
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
    readonly doNotRetry?: DoNotRetryOptions | undefined;
    readonly keyHeader?: KeyHeaderOptions | undefined;
    readonly maxBodyBytes?: number | undefined;
    readonly maxResponseBytes?: number | undefined;
    readonly fetch?: FetchLike | undefined;
    readonly dispatcher?: DispatcherLike | undefined;
    readonly observe?: Observer | undefined;
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
    turn?(): Promise<void>;
}

interface CodesOf {
    readonly ConfigurationError: 'HOLDFAST_CONFIGURATION';
    readonly BodyError: 'HOLDFAST_BODY' | 'HOLDFAST_BODY_TOO_LARGE' | 'HOLDFAST_BODY_UNREADABLE' | 'HOLDFAST_INVALID_JSON' | 'HOLDFAST_BODY_OMITTED';
    readonly NotSentError: 'HOLDFAST_NOT_SENT' | 'HOLDFAST_CLOSED';
    readonly RejectedError: 'HOLDFAST_REJECTED';
    readonly KeyReuseError: 'HOLDFAST_KEY_REUSE';
    readonly IndeterminateError: 'HOLDFAST_INDETERMINATE' | 'HOLDFAST_CLOSED';
    readonly StorageError: 'HOLDFAST_STORAGE' | 'HOLDFAST_RECORD_CORRUPT' | 'HOLDFAST_RECORD_NEWER' | 'HOLDFAST_RECORD_GONE' | 'HOLDFAST_UNKNOWN_OPERATION';
    readonly LedgerError: 'HOLDFAST_CLAIM_LOST' | 'HOLDFAST_NOT_COMMITTED' | 'HOLDFAST_ENTRY' | 'HOLDFAST_RECONCILE';
}

interface CommandResults {
    append: AppendResult;
    write: boolean;
    claim: ClaimedRow[];
    read: PlacedRow | undefined;
    list: PlacedRow[];
    survey: SurveyResult;
    drop: number;
}

interface CryptoKeyLike {
    readonly type: string;
    readonly extractable: boolean;
    readonly algorithm: object;
    readonly usages: readonly string[];
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
    readonly exceptOrigins: readonly string[];
}

interface Encryption {
    seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
    open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
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

interface Fence {
    readonly namespace: string;
    readonly key: string;
    readonly owner: string;
    readonly epoch: number;
}

interface FoundOperation extends OperationView {
    readonly result: OperationHandle;
}

interface HandleSource {
    readonly key: string;
    readonly id: string | undefined;
    readonly accepted: Promise<DurabilityLevel>;
    readonly answer: Promise<Answer>;
    cancel(): Promise<void>;
    readonly isLazy?: boolean;
}

interface Journal {
    readonly level: DurabilityLevel;
    open(): Promise<void>;
    execute(commands: readonly JournalCommand[]): Promise<JournalResult[]>;
    close(): Promise<void>;
    persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>;
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
    readonly origin: string;
    readonly body: Uint8Array | null;
    readonly status: OperationStatus;
    readonly owner: string | null;
    readonly epoch: number;
    readonly leaseUntil: number;
    readonly dueAt: number;
    readonly notBefore: number;
    readonly deliveryDue: boolean;
    readonly expiresAt: number | null;
    readonly head: string;
    readonly responseBody: Uint8Array | null;
}

interface KeyHeaderOptions {
    readonly name?: string | undefined;
    readonly format?: 'bare' | 'structured' | undefined;
}

interface List {
    readonly do: 'list';
    readonly namespace: string;
    readonly status: OperationStatus | undefined;
    readonly after: number;
    readonly limit: number;
}

interface OfOperation extends EventBase {
    readonly operation: OperationRef;
    readonly method: string;
    readonly url: string;
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
    readonly status: 'pending' | SettledStatus;
    readonly attempts: number;
    readonly acceptedAt: number;
    readonly method: string;
    readonly url: string;
    readonly effect: Effect;
    readonly inFlight: boolean;
    readonly horizonAt: number;
    readonly nextAttemptAt: number | undefined;
    readonly reason: Reason | undefined;
}

interface OperationsQuery {
    readonly status?: OperationStatus | undefined;
    readonly limit?: number | undefined;
    readonly after?: string | undefined;
}

interface PlacedRow extends JournalRow {
    readonly place: number;
}

interface PreparedOperation {
    readonly key: string;
    readonly id: string | undefined;
    readonly name: string | undefined;
    readonly method: string;
    readonly url: string;
    persist(transaction: unknown): void | Promise<void>;
}

interface ProblemDetails {
    readonly type?: string;
    readonly title?: string;
    readonly status?: number;
    readonly detail?: string;
    readonly instance?: string;
    readonly [extension: string]: unknown;
}

interface Read {
    readonly do: 'read';
    readonly namespace: string;
    readonly keyOrId: string;
}

interface ReconciledOutcome {
    readonly status: SettledStatus;
    readonly effect?: Effect | undefined;
    readonly response?: Response | undefined;
}

interface ResumeOptions {
    readonly continuous?: boolean | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly concurrency?: number | undefined;
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

interface RetryOptions {
    readonly jitter?: Jitter | undefined;
    readonly base?: Duration | undefined;
    readonly cap?: Duration | undefined;
    readonly maxAttempts?: number | undefined;
    readonly statuses?: readonly number[] | undefined;
    readonly shouldRetry?: ((context: RetryContext) => boolean | undefined) | undefined;
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

interface StoredResponse {
    readonly status: number;
    readonly statusText: string;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
    readonly bodyOmitted: boolean;
    readonly url: string;
    readonly redirected: boolean;
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

interface Write extends Fence {
    readonly do: 'write';
    readonly change: RowChange | Pick<RowChange, 'leaseUntil'> | 'remove' | 'set-aside';
}

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

type BodyInput = string | Uint8Array | ArrayBuffer | ArrayBufferView | Blob | URLSearchParams | FormData | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

type CredentialsMode = 'omit' | 'same-origin' | 'include';

type Details<Name extends keyof CodesOf, Known extends Effect> = Omit<ErrorDetails, 'code' | 'effect'> & {
    readonly code?: CodesOf[Name];
    readonly effect: Known;
};

type DurabilityLevel = 'memory' | 'process' | 'power';

type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

type Effect = 'none' | 'unknown' | 'applied';

type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

type HeaderList = readonly (readonly [
    name: string,
    value: string
])[];

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

type HonoursKeys = boolean | ((url: string) => boolean);

type Jitter = 'full' | 'equal' | 'decorrelated' | 'none';

type JournalCommand = Append | Write | ClaimDue | ClaimByKey | Read | List | Survey | DropNamespace | DropExpired;

type JournalResult = CommandResults[keyof CommandResults];

type Json = string | number | boolean | null | readonly Json[] | {
    readonly [key: string]: Json;
};

type Observer = (event: HoldfastEvent) => void;

type OperationStatus = 'pending' | SettledStatus;

type Random = () => number;

type Reason = 'attempts' | 'deadline' | 'horizon' | 'budget' | 'breaker' | 'do-not-retry' | 'status' | 'aborted' | 'not-replayable' | 'storage' | 'key-reuse' | 'lease-lost' | 'auth' | 'poison' | 'network';

type ResumeReport = {
    claimed: number;
    pending: number;
} & Record<SettledStatus, number>;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>;

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';

type SettlementHandler = (settlement: Settlement) => unknown;

type SettlementHandlerOf<Metadata> = (settlement: SettlementOf<Metadata>) => unknown;
