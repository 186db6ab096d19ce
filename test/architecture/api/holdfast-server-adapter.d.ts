// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { Answer, Authorize, Begun, Claim, Consumed, Consumption, EntriesQuery, EntryDraft, EntryPlace, EntryState, FoundEntry, GuardedLedger, HeaderSource, Inbound, InboundBody, InboundContext, InboundSource, Insertion, LedgerGuard, LedgerStats, LedgerStore, MessageDraft, ObserveLedger, OnAbandoned, Outcome, OverloadedOptions, ReapOptions, Reaped, ReconcileContext, RecordedAnswer, RetryContextOptions, RetryContexts, Session, ShapeRefusal, StreamedAnswer, TransactOptions, Transaction, WithoutAnswer, WorkOutcome, guardOf, isReply }

declare class Background {
    #private;
    get closing(): AbortSignal;
    run(work: Promise<unknown>): void;
    close(): Promise<void>;
}

declare class InFlightWaiters {
    #private;
    constructor(clock: Clock);
    pollNow(request: KeyRequest): void;
    wait(waiting: InFlightWaiter): Promise<ClaimResult>;
}

declare class Session {
    #private;
    readonly context: IdempotencyContext;
    constructor(guard: GuardOptions, claimed: ClaimedRequest | null);
    get records(): boolean;
    get answersWith(): 'handler' | 'effect' | 'committer';
    get isExternal(): boolean;
    isFailure(status: number): boolean;
    complete(answer: Answer): Promise<Answer>;
    fail(error: unknown): Promise<Answer | undefined>;
}

declare const GUARD: unique symbol;

declare function guardOf<Tx, Returned, Native>(ledger: GuardedLedger<Tx, Returned, Native>): LedgerGuard<Tx, Returned, Native>;

declare function isReply(value: unknown): value is Reply;

interface Answer {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
}

interface AnswerPolicy {
    readonly store5xx: boolean;
    readonly maxResponseBytes: number;
    readonly dropHeaders: ReadonlySet<string>;
}

interface Claim {
    readonly scope: string;
    readonly key: string;
    readonly token: string;
    readonly attempt: number;
}

interface ClaimedRequest {
    readonly request: KeyRequest;
    readonly claim: Claim;
    readonly protection: Protection;
    notDone?: boolean;
}

interface Clock {
    now(): number;
    sleep(ms: number, signal?: AbortSignal): Promise<void>;
    after?(ms: number, callback: () => void): () => void;
    turn?(): Promise<void>;
}

interface Consumed {
    readonly duplicate: boolean;
    readonly value: string | null;
}

interface Consumption<Tx> {
    readonly work: (tx: Tx) => string | null | Promise<string | null>;
    readonly options: TransactOptions<Tx>;
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

interface FoundEntry {
    readonly entry: Entry;
    readonly now: number;
    readonly owner: 'alive' | 'gone' | 'unsure';
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
    readonly reconcile: Reconcile | undefined;
    readonly clock: Clock;
    readonly background: Background;
    readonly digest: (texts: readonly string[], bytes: Uint8Array | null) => string;
}

interface GuardedLedger<Tx = unknown, Returned = EffectReturn, Native = unknown> {
    readonly [GUARD]: LedgerGuard<Tx, Returned, Native>;
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

interface InFlightWaiter {
    readonly request: KeyRequest;
    readonly tryAgain: () => Promise<ClaimResult>;
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

interface KeyRequest {
    readonly scope: string;
    readonly key: string;
    readonly fingerprint: string;
    readonly method: string;
    readonly path: string;
}

interface LedgerGuard<Tx = unknown, Returned = EffectReturn, Native = unknown> {
    readonly begin: (inbound: Inbound<Native>, options?: ProtectOptions) => Promise<Begun<Tx, Returned>>;
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
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

interface LimitHeaders {
    readonly doNotRetry?: string | undefined;
    readonly timeout?: string | undefined;
}

interface MessageDraft {
    readonly scope: string;
    readonly id: string;
    readonly retentionMs: number;
    readonly leaseMs?: number | undefined;
    readonly now: number;
}

interface OfEntry extends Timed {
    readonly scope: string;
    readonly key: string;
    readonly method: string;
    readonly path: string;
}

interface OverloadedOptions {
    readonly retryAfter?: Duration | undefined;
    readonly detail?: string | undefined;
}

interface ParsedBody {
    readonly json: unknown;
}

interface Problem {
    readonly type: string;
    readonly status: number;
    readonly title: string;
    readonly detail: string;
}

interface ProtectOptions {
    readonly external?: boolean | undefined;
    readonly reconcile?: Reconcile | undefined;
    readonly onAbandoned?: OnAbandoned | undefined;
}

interface Protection {
    readonly external: boolean;
    readonly onAbandoned: OnAbandoned | undefined;
    readonly reconcile: Reconcile | undefined;
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

interface ReconcileContext {
    deriveKey(label: string): string;
}

interface RecordedAnswer {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
    readonly bodyOmitted: boolean;
}

interface Reply {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
}

interface RequestPolicy {
    readonly methods: ReadonlySet<string>;
    readonly required: boolean;
    readonly keyHeader: string;
    readonly retentionMs: number;
    readonly maxRequestBytes: number;
}

interface RetryContextOptions extends LimitHeaders {
    readonly clock?: Clock | undefined;
}

interface RetryContexts {
    run<T>(request: InboundSource, serve: () => T, options?: RetryContextOptions): T;
    current(): InboundContext | undefined;
    outside<T>(work: () => T): T;
}

interface RolledBack<Kind, Answer> {
    readonly kind: Kind;
    readonly answer?: Answer;
    readonly error?: unknown;
}

interface StreamedAnswer extends Answer {
    readonly streamed: true;
}

interface Timed {
    readonly at: number;
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

type ClaimResult = {
    readonly kind: 'claimed';
    readonly claim: Claim;
    readonly from: Entry | undefined;
    readonly next: NextStep;
} | {
    readonly kind: 'replay';
    readonly entry: Entry;
} | {
    readonly kind: 'refused';
    readonly reason: Extract<Admission, {
        kind: 'refuse';
    }>['reason'];
};

type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

type EffectReturn = Reply | Response | Promise<Reply | Response>;

type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>;

type EntryState = 'running' | 'done' | 'unknown';

type HeaderList = readonly (readonly [
    name: string,
    value: string
])[];

type HeaderSource = {
    get(name: string): string | null;
} | HeaderList | {
    readonly [name: string]: string | readonly string[] | undefined;
};

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
}) | (OfEntry & {
    readonly type: 'claim.lost';
}) | (OfEntry & {
    readonly type: 'handler.failed';
    readonly error: unknown;
}) | (Timed & {
    readonly type: 'request.refused';
    readonly reason: RefusalReason;
    readonly method: string;
    readonly path: string;
    readonly scope: string | undefined;
    readonly key: string | undefined;
}) | (Timed & {
    readonly type: 'ledger.failed';
    readonly error: unknown;
});

type NextStep = Extract<Admission, {
    kind: 'take-over';
}>['next'];

type ObserveLedger = (event: LedgerEvent) => void;

type OnAbandoned = 'rerun' | 'hold';

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

type Reconcile = (entry: Entry, context: ReconcileContext) => Reconciled | Promise<Reconciled>;

type Reconciled = Reply | Response | 'rerun' | undefined;

type RefusalReason = 'body-too-large' | 'key-missing' | 'key-malformed' | 'key-reused' | 'in-flight' | 'outcome-unknown' | 'window-passed' | 'unavailable' | 'written-by-newer' | 'other-version';

type ShapeRefusal<Native> = {
    call(problem: Problem, request: Native): Reply | undefined;
}['call'];

type WithoutAnswer = 'released' | 'abandoned';

type WorkOutcome<Answer = RecordedAnswer> = Extract<Outcome<Answer>, {
    kind: 'recorded' | 'released' | 'abandoned';
}>;
