// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { AnswerStep, BrokenPromise, ContractCase, CoverageCounts, Crash, CrashAtOptions, CrashPoint, FailedHistory, FaultStep, HangStep, JournalContractOptions, LedgerContractOptions, ManualClock, PlainStep, PromiseName, ScriptedCall, ScriptedFault, ScriptedFetch, ScriptedFetchOptions, ScriptedStep, SeededRandom, SimulateOptions, SimulatedApi, SimulationProgress, SimulationReport, StepFunction, StepResult, crashAt, crashPoints, journalContract, ledgerContract, manualClock, reportText, scriptedFetch, seededRandom, simulate }

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
        "pruned"
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
        "work-slow"
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
        "entry taken over",
        "entry abandoned",
        "entry released",
        "entry reconciled",
        "claim lost",
        "outcome-unknown answer",
        "unavailable answer",
        "key-reused answer",
        "answer recorded late"
    ];
    readonly claim: readonly [
        ...string[],
        "a result: success",
        "a result: failure"
    ];
};

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
    "entries"
];

declare const LEDGER_POINTS_BESIDE: readonly [
    "ledger:serving",
    "ledger:in-transaction",
    "ledger:committing",
    "ledger:reconciling",
    "provider:leaving",
    "provider:travelling",
    "provider:answered"
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

declare function crashAt(point: CrashPoint, options: CrashAtOptions): Crash;

declare function journalContract(options: JournalContractOptions): ContractCase[];

declare function ledgerContract<Tx>(given: LedgerContractOptions<Tx>): ContractCase[];

declare function manualClock(startAt?: number): ManualClock;

declare function reportText(report: SimulationReport): string;

declare function scriptedFetch(steps: readonly ScriptedStep[] | StepFunction, options?: ScriptedFetchOptions): ScriptedFetch;

declare function seededRandom(seed: number | string): SeededRandom;

declare function simulate(options?: SimulateOptions): Promise<SimulationReport>;

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

interface BrokenPromise {
    readonly promise: PromiseName;
    readonly sentence: string;
    readonly at: number;
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

interface Clock {
    now(): number;
    sleep(ms: number, signal?: AbortSignal): Promise<void>;
    after?(ms: number, callback: () => void): () => void;
    turn?(): Promise<void>;
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

interface Consumed {
    readonly duplicate: boolean;
    readonly value: string | null;
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
    readonly createdAt?: number | undefined;
}

interface FailedHistory {
    readonly seed: number | string;
    readonly broken: readonly BrokenPromise[];
    readonly without: readonly string[];
    readonly trace: readonly string[];
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

interface FoundEntry {
    readonly entry: Entry;
    readonly now: number;
    readonly owner: 'alive' | 'gone' | 'unsure';
}

interface HangStep extends Timing {
    readonly hang: true;
}

interface HistoryOptions {
    readonly without?: ReadonlySet<string> | undefined;
    readonly traced?: boolean | undefined;
    readonly journal?: (() => Journal | Promise<Journal>) | undefined;
    readonly api?: ((clock: Clock) => SimulatedApi | Promise<SimulatedApi>) | undefined;
}

interface Journal {
    readonly level: DurabilityLevel;
    open(): Promise<void>;
    execute(commands: readonly JournalCommand[]): Promise<JournalResult[]>;
    close(): Promise<void>;
    persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>;
}

interface JournalContractOptions {
    open(): Journal | Promise<Journal>;
    another?: ((journal: Journal) => Journal | Promise<Journal>) | undefined;
    reopen?: ((journal: Journal) => Journal | Promise<Journal>) | undefined;
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

interface LedgerStats {
    readonly running: number;
    readonly done: number;
    readonly unknown: number;
    readonly expired: number;
    readonly messages: number;
}

interface LedgerStore<Tx = unknown, Returned = unknown> {
    readonly name: string;
    readonly returned?: Returned;
    insert(draft: EntryDraft): Promise<Insertion>;
    takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined>;
    renew(claim: Claim, lease: {
        readonly leaseMs: number;
        readonly now: number;
    }): Promise<boolean>;
    complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean>;
    release(claim: Claim): Promise<boolean>;
    abandon(claim: Claim, now: number): Promise<boolean>;
    transact(transaction: Transaction<Tx>): Promise<Outcome>;
    consume(message: MessageDraft, consumption: Consumption<Tx>): Promise<Consumed>;
    find(scope: string, key: string): Promise<Entry | undefined>;
    reap(options: ReapOptions): Promise<Reaped>;
    entries(query: EntriesQuery): AsyncIterable<Entry>;
    stats(now: number): Promise<LedgerStats>;
    close(): Promise<void>;
}

interface List {
    readonly do: 'list';
    readonly namespace: string;
    readonly status: OperationStatus | undefined;
    readonly after: number;
    readonly limit: number;
}

interface ManualClock extends Clock {
    after(ms: number, callback: () => void): () => void;
    advance(by: Duration): Promise<void>;
    pending(): number;
    next(): number | undefined;
}

interface MessageDraft {
    readonly scope: string;
    readonly id: string;
    readonly retentionMs: number;
    readonly leaseMs?: number | undefined;
    readonly now: number;
}

interface PlacedRow extends JournalRow {
    readonly place: number;
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

interface RecordedAnswer {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
    readonly bodyOmitted: boolean;
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

interface Survey extends DueFilter {
    readonly do: 'survey';
    readonly namespace: string;
    readonly now: number;
}

interface SurveyResult {
    readonly owners: readonly string[];
    readonly nextDueAt: number | undefined;
}

interface Timing {
    readonly delay?: number | undefined;
    readonly repeat?: boolean | undefined;
}

interface TransactOptions<Tx> {
    readonly transaction?: Tx | undefined;
    readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined;
}

interface Transaction<Tx> {
    readonly claim: Claim | null;
    readonly now: number;
    readonly leaseMs?: number | undefined;
    readonly work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>;
    readonly onFailure: WithoutAnswer;
    readonly options: TransactOptions<Tx>;
}

interface Write extends Fence {
    readonly do: 'write';
    readonly change: RowChange | Pick<RowChange, 'leaseUntil'> | 'remove' | 'set-aside';
}

type AppendResult = {
    readonly appended: true;
} | {
    readonly appended: false;
    readonly existing: PlacedRow;
};

type ClientPoint = `${Write}:${Stage}` | (typeof POINTS_BESIDE)[number];

type CoverageCounts = Record<CoverageKind, Record<string, number>>;

type CoverageKind = keyof typeof EXPECTED;

type CrashPoint = `${JournalMoment}:${'asked' | 'durable'}` | `send:${SendMoment}`;

type DurabilityLevel = 'memory' | 'process' | 'power';

type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>;

type EntryState = 'running' | 'done' | 'unknown';

type Eventually<T> = T | Promise<T>;

type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

type HeaderList = readonly (readonly [
    name: string,
    value: string
])[];

type HeadersInput = Headers | readonly (readonly [
    string,
    string
])[] | {
    readonly [name: string]: string | undefined;
};

type Insertion = {
    readonly kind: 'inserted';
    readonly claim: Claim;
} | {
    readonly kind: 'found';
    readonly found: FoundEntry;
};

type JournalCommand = Append | Write | ClaimDue | ClaimByKey | Read | List | Survey | DropNamespace | DropExpired;

type JournalMoment = 'append' | 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' | 'renew' | 'claim';

type JournalResult = CommandResults[keyof CommandResults];

type LedgerCall = (typeof LEDGER_CALLS)[number];

type LedgerPoint = `ledger:${LedgerCall}:${'asked' | 'done'}` | (typeof LEDGER_POINTS_BESIDE)[number];

type OperationStatus = 'pending' | SettledStatus;

type Outcome<Answer = RecordedAnswer> = {
    readonly kind: 'recorded';
    readonly writes: 'committed' | 'rolled-back';
    readonly answer: Answer;
} | {
    readonly kind: 'uncommitted';
    readonly answer: Answer;
} | RolledBack<'released', Answer> | RolledBack<'abandoned', Answer> | {
    readonly kind: 'lost';
} | {
    readonly kind: 'in-doubt';
    readonly error: unknown;
};

type PlainStep = AnswerStep | FaultStep | HangStep;

type PromiseName = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P8' | 'P9';

type Random = () => number;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>;

type ScriptedFault = 'refused' | 'reset' | 'timeout' | 'dns' | Error;

type ScriptedStep = PlainStep | StepFunction;

type SeededRandom = Random & {
    readonly seed: number | string;
};

type SendMoment = 'leaving' | 'travelling' | 'answered';

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';

type SimulatedCrashPoint = ClientPoint | LedgerPoint;

type Stage = (typeof STAGES)[number];

type StepFunction = (call: ScriptedCall, n: number) => StepResult | Promise<StepResult>;

type StepResult = PlainStep | Response;

type WithoutAnswer = 'released' | 'abandoned';

type WorkOutcome<Answer = RecordedAnswer> = Extract<Outcome<Answer>, {
    kind: 'recorded' | 'released' | 'abandoned';
}>;

type Write = (typeof WRITES)[number];
