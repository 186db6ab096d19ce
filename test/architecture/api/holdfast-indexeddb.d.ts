// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { IndexedDbJournalOptions, indexedDbJournal }

declare function indexedDbJournal(options?: IndexedDbJournalOptions): Journal;

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

interface IndexedDbJournalOptions {
    readonly name?: string | undefined;
    readonly durability?: 'strict' | 'relaxed' | undefined;
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

interface SetAside {
    readonly do: 'set-aside';
    readonly namespace: string;
    readonly key: string;
}

type AppendResult = {
    readonly appended: true;
} | {
    readonly appended: false;
    readonly existing: PlacedRow;
};

type DurabilityLevel = 'memory' | 'process' | 'power';

type JournalCommand = Append | Commit | Remove | Renew | Claim | ClaimOne | Read | List | Owners | NextDue | Forget | Prune | SetAside;

type JournalResult = CommandResults[keyof CommandResults];

type OperationStatus = 'pending' | SettledStatus;

type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>;

type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled';
