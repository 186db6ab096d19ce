// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { PostgresClient, PostgresLedgerOptions, PostgresPool, PostgresTransaction, postgresLedger }

declare function postgresLedger<Pool extends PostgresPool = PostgresPool>(options: PostgresLedgerOptions<Pool>): LedgerStore<PostgresTransaction<Pool>, EffectReturn>;

interface Claim {
    readonly scope: string;
    readonly key: string;
    readonly token: string;
    readonly attempt: number;
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

interface MessageDraft {
    readonly scope: string;
    readonly id: string;
    readonly retentionMs: number;
    readonly leaseMs?: number | undefined;
    readonly now: number;
}

interface PostgresClient extends PostgresQueryable {
    release(destroy?: boolean): void;
    on(event: 'error', listener: (error: Error) => void): unknown;
    removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

interface PostgresLedgerOptions<Pool extends PostgresPool = PostgresPool> {
    readonly pool?: Pool | undefined;
    readonly connectionString?: string | undefined;
    readonly schema?: string | undefined;
}

interface PostgresPool extends PostgresQueryable {
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

interface Reply {
    readonly status: number;
    readonly headers: HeaderList;
    readonly body: Uint8Array | null;
}

interface RolledBack<Kind, Answer> {
    readonly kind: Kind;
    readonly answer?: Answer;
    readonly error?: unknown;
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

type ClientOf<Pool> = Pool extends {
    readonly connect: {
        (): Promise<infer Client>;
        (callback: infer _Callback): void;
    };
} ? Client : PostgresClient;

type EffectReturn = Reply | Response | Promise<Reply | Response>;

type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>;

type EntryState = 'running' | 'done' | 'unknown';

type HeaderList = readonly (readonly [
    name: string,
    value: string
])[];

type Insertion = {
    readonly kind: 'inserted';
    readonly claim: Claim;
} | {
    readonly kind: 'found';
    readonly found: FoundEntry;
};

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

type PostgresTransaction<Pool extends PostgresPool = PostgresPool> = Omit<ClientOf<Pool>, 'release'>;

type WithoutAnswer = 'released' | 'abandoned';

type WorkOutcome<Answer = RecordedAnswer> = Extract<Outcome<Answer>, {
    kind: 'recorded' | 'released' | 'abandoned';
}>;
