// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { SqliteDatabase, SqliteDurability, SqliteFileOptions, SqliteHandleOptions, SqliteJournalOptions, SqliteStatement, sqliteJournal }

declare function sqliteJournal(options: SqliteJournalOptions): Journal;

interface Append {
    readonly do: 'append';
    readonly row: JournalRow;
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

interface CommandResults {
    append: AppendResult;
    write: boolean;
    claim: ClaimedRow[];
    read: PlacedRow | undefined;
    list: PlacedRow[];
    survey: SurveyResult;
    drop: number;
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

interface Fence {
    readonly namespace: string;
    readonly key: string;
    readonly owner: string;
    readonly epoch: number;
}

interface Journal {
    readonly level: DurabilityLevel;
    open(): Promise<void>;
    execute(commands: readonly JournalCommand[]): Promise<JournalResult[]>;
    close(): Promise<void>;
    persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>;
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

interface PlacedRow extends JournalRow {
    readonly place: number;
}

interface Read {
    readonly do: 'read';
    readonly namespace: string;
    readonly keyOrId: string;
}

interface SharedOptions {
    readonly durability?: SqliteDurability | undefined;
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

interface SqliteStatement {
    run(...values: unknown[]): {
        readonly changes: number;
        readonly lastInsertRowid: number | bigint;
    };
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown[];
    safeIntegers(toggle?: boolean): unknown;
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

type AppendResult = {
    readonly appended: true;
} | {
    readonly appended: false;
    readonly existing: PlacedRow;
};

type DurabilityLevel = 'memory' | 'process' | 'power';

type JournalCommand = Append | Write | ClaimDue | ClaimByKey | Read | List | Survey | DropNamespace | DropExpired;

type JournalResult = CommandResults[keyof CommandResults];

type OperationStatus = 'pending' | SettledStatus;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>;

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';

type SqliteDurability = 'full' | 'process';

type SqliteJournalOptions = SqliteFileOptions | SqliteHandleOptions;
