// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { AnswerStep, ContractCase, Crash, CrashAtOptions, CrashPoint, FaultStep, HangStep, JournalContractOptions, ManualClock, PlainStep, ScriptedCall, ScriptedFault, ScriptedFetch, ScriptedFetchOptions, ScriptedStep, SeededRandom, StepFunction, StepResult, crashAt, crashPoints, journalContract, manualClock, scriptedFetch, seededRandom }

declare const crashPoints: readonly CrashPoint[];

declare function crashAt(point: CrashPoint, options: CrashAtOptions): Crash;

declare function journalContract(options: JournalContractOptions): ContractCase[];

declare function manualClock(startAt?: number): ManualClock;

declare function scriptedFetch(steps: readonly ScriptedStep[] | StepFunction, options?: ScriptedFetchOptions): ScriptedFetch;

declare function seededRandom(seed: number | string): SeededRandom;

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

interface Claim extends Claimant {
    readonly do: 'claim';
    readonly after: number;
    readonly limit: number;
    readonly dueBy: number;
    readonly deliverNames: readonly string[] | '*';
    readonly exceptOrigins: readonly string[];
}

interface ClaimOne extends Claimant {
    readonly do: 'claim-one';
    readonly key: string;
    readonly statuses: readonly OperationStatus[];
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
    commit: boolean;
    remove: boolean;
    renew: boolean;
    claim: ClaimedRow[];
    'claim-one': ClaimedRow | undefined;
    read: PlacedRow | undefined;
    list: PlacedRow[];
    owners: string[];
    'next-due': number | undefined;
    forget: number;
    prune: number;
    'set-aside': boolean;
}

interface Commit extends Fence {
    readonly do: 'commit';
    readonly change: RowChange;
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

interface FaultStep extends Timing {
    readonly fault: ScriptedFault;
}

interface Fence {
    readonly namespace: string;
    readonly key: string;
    readonly owner: string;
    readonly epoch: number;
}

interface Forget {
    readonly do: 'forget';
    readonly namespace: string;
}

interface HangStep extends Timing {
    readonly hang: true;
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

interface NextDue {
    readonly do: 'next-due';
    readonly namespace: string;
    readonly exceptOrigins: readonly string[];
    readonly deliverNames: readonly string[] | '*';
}

interface Owners {
    readonly do: 'owners';
    readonly namespace: string;
    readonly now: number;
}

interface PlacedRow extends JournalRow {
    readonly place: number;
}

interface Prune {
    readonly do: 'prune';
    readonly now: number;
    readonly limit: number;
}

interface Read {
    readonly do: 'read';
    readonly namespace: string;
    readonly keyOrId: string;
}

interface Remove extends Fence {
    readonly do: 'remove';
}

interface Renew extends Fence {
    readonly do: 'renew';
    readonly leaseUntil: number;
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

interface SetAside {
    readonly do: 'set-aside';
    readonly namespace: string;
    readonly key: string;
}

interface Timing {
    readonly delay?: number | undefined;
    readonly repeat?: boolean | undefined;
}

type AppendResult = {
    readonly appended: true;
} | {
    readonly appended: false;
    readonly existing: PlacedRow;
};

type CrashPoint = `${JournalMoment}:${'asked' | 'durable'}` | `send:${SendMoment}`;

type DurabilityLevel = 'memory' | 'process' | 'power';

type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

type HeadersInput = Headers | readonly (readonly [
    string,
    string
])[] | {
    readonly [name: string]: string | undefined;
};

type JournalCommand = Append | Commit | Remove | Renew | Claim | ClaimOne | Read | List | Owners | NextDue | Forget | Prune | SetAside;

type JournalMoment = 'append' | 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' | 'remove' | 'renew' | 'claim';

type JournalResult = CommandResults[keyof CommandResults];

type OperationStatus = 'pending' | SettledStatus;

type PlainStep = AnswerStep | FaultStep | HangStep;

type Random = () => number;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>;

type ScriptedFault = 'refused' | 'reset' | 'timeout' | 'dns' | Error;

type ScriptedStep = PlainStep | StepFunction;

type SeededRandom = Random & {
    readonly seed: number | string;
};

type SendMoment = 'leaving' | 'travelling' | 'answered';

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';

type StepFunction = (call: ScriptedCall, n: number) => StepResult | Promise<StepResult>;

type StepResult = PlainStep | Response;
