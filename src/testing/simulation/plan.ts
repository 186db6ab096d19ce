import type { ClientOptions } from '../../client/options.ts'
import type { ClientPoint, Fault, LedgerPoint } from './vocabulary.ts'

/** 1 January 2025 at noon, by every machine whose clock is right. */
export const BEGINNING = 1_735_732_800_000

export const SECOND = 1000
export const MINUTE = 60 * SECOND

/** Every client's `dedupWindow`, and what an honest server keeps. */
export const DEDUP_WINDOW_MS = 30 * MINUTE
export const HORIZON_MS = 4 * MINUTE
/** How long a call by a resume, by key or through `client.fetch` may take. */
export const RUN_DEADLINE_MS = 30 * SECOND
export const SHORT_HORIZON_MS = 8 * SECOND
/** `retention` where handlers stay away: longer than any call can come late, jumps of clocks included. */
export const SHORT_RETENTION_MS = 12 * MINUTE
/** A server with a shorter memory than it promised. */
export const SHORT_WINDOW_MS = 20 * SECOND

/** The API of most clients, and the one of the others. */
export const ORIGIN = 'http://api.test'
export const OTHER_ORIGIN = 'http://other.test'
export const MORE_ORIGINS = ['http://third.test', 'http://fourth.test']

/** A place where one process after the other runs. */
export interface SlotPlan {
  /** The `baseUrl` of its clients. */
  readonly origin: string
  /** Further APIs whose operations its clients resume. */
  readonly trusts: readonly string[]
  readonly machine: number
  readonly handlers: 'all' | 'named' | 'none'
  /** Do its client's headers make the credentials? */
  readonly headers: 'full' | 'poor'
  readonly resume: 'once' | 'watch' | 'none'
  readonly restartAfterMs: number
  readonly restarts: number
}

/** One call of the program around the client, and what the program does about it later. */
export interface CallPlan {
  /** The logical operation: calls that mean the same have the same label, and so the same bytes. */
  readonly label: string
  /** Calls of one operation go to one API, whoever makes them. */
  readonly origin: string
  readonly slot: number
  readonly at: number
  readonly id: string | undefined
  /** A key of the program's own. */
  readonly key: string | undefined
  readonly name: string | undefined
  readonly method: 'post' | 'put' | 'patch' | 'delete'
  /** Called by a verb of the client, or by `client.fetch`. */
  readonly through: 'verb' | 'fetch'
  /** Prepared, and written in a transaction of the program's own. */
  readonly outbox: OutboxPlan | undefined
  readonly onGiveUp: 'fail' | 'keep'
  readonly lane: string | undefined
  readonly laneOnFailure: 'stop' | 'continue'
  readonly deadlineMs: number
  readonly withCredentials: boolean
  /** A signature in its URL, which is a credential: made anew for each call. */
  readonly signature: string | undefined
  readonly abortAfterMs: number | undefined
  readonly cancelAfterMs: number | undefined
  readonly retryAfterMs: number | undefined
  /** How the program takes the answer. */
  readonly reads: 'response' | 'json'
  /** When it looks the operation up, and how much later it reads the result that it found. */
  readonly looksAfterMs: number | undefined
  readonly readsLaterMs: number
}

/** A transaction of the program's own, from the moment that an operation was written in it. */
export interface OutboxPlan {
  /** A handle of SQLite says whether its transaction is open; a client of pg does not, and its COMMIT has a way to go. */
  readonly database: 'sqlite' | 'pg'
  readonly ends: 'commit' | 'rollback'
  readonly endsAfterMs: number
  readonly sendsAfterMs: number
}

/** Operations that were written in a transaction of the program's own, and that only a resume sends. */
export interface Backlog {
  readonly label: string
  readonly origin: string
  readonly slot: number
  readonly at: number
  readonly count: number
  readonly name: string | undefined
  readonly lane: string | undefined
}

/** What is wrong with one API for a while, whoever asks it. */
export interface Trouble {
  readonly fault: Fault
  readonly origin: string
  /** `hangs`: no answer comes, whether or not it was done. `slow`: answers take seconds. */
  readonly kind: 'refuses' | 'resets' | 'errors' | 'hangs' | 'throttles' | 'slow'
  readonly from: number
  readonly until: number
}

/** The people at the browser. */
export const USERS = ['ann', 'bob']

/** What happens to the world at a time. */
export type Act =
  | { readonly do: 'freeze' | 'hide'; readonly at: number; readonly slot: number; readonly ms: number }
  | { readonly do: 'jump'; readonly at: number; readonly machine: number; readonly ms: number }
  | { readonly do: 'crash' | 'close' | 'resume' | 'list'; readonly at: number; readonly slot: number }
  | { readonly do: 'power-cut'; readonly at: number }
  | { readonly do: 'log-in'; readonly at: number; readonly user: string }
  | { readonly do: 'change-record'; readonly at: number; readonly what: RecordChange }
  | {
      readonly do: 'outage' | 'disk-full' | 'offline' | 'handlers-away'
      readonly at: number
      readonly ms: number
    }

/** What of a row on disk no longer is as it was accepted. */
export type RecordChange = 'origin' | 'url' | 'body'

/** The process in that slot ends when it comes to this point for that time. */
export interface PlannedCrash {
  readonly slot: number
  readonly point: ClientPoint
  readonly occurrence: number
}

/** A server behind the real ledger: one to two replicas over one store. */
export interface LedgerPlan {
  /** `effect`: inside the ledger's transaction. `external`: at a provider, where nothing can be undone. */
  readonly work: 'effect' | 'external'
  /** Where an external handler has its answer put on record: by returning it, or in a transaction with a row of its own. */
  readonly records: 'after' | 'in-transaction'
  /** How requests reach the ledger: by `protect`, or by a framework that answers what is thrown, and what takes too long. */
  readonly adapter: 'protect' | 'framework'
  /** `postgres`: an effect is marked and locked in two steps, and leases begin by the clock of the store. */
  readonly storeIsLike: 'memory' | 'postgres'
  readonly reconcile: 'asks-the-provider' | 'none'
  /** Does the provider do something once per derived key, or each time that it is asked? */
  readonly provider: 'dedups' | 'blind'
  readonly replicas: number
  readonly restartAfterMs: number
  readonly leaseMs: number
  readonly inFlight: 'reject' | 'wait'
  readonly reapEveryMs: number
  /** A replica ends when it, or an earlier one, comes to this point for that time. */
  readonly crashes: readonly { readonly point: LedgerPoint; readonly occurrence: number }[]
  readonly freezes: readonly ReplicaAct[]
  /** Renewals of one replica get no answer, while its other calls do. */
  readonly starvations: readonly (ReplicaAct & { readonly calls: HeldUpCalls })[]
  /** No call of one replica reaches the store. */
  readonly cutOffs: readonly (ReplicaAct & { readonly calls: HeldUpCalls })[]
  readonly strangers: readonly StrangerPlan[]
}

/** A caller that is no client of ours, with one operation. */
export interface StrangerPlan {
  readonly at: number
  /** How often its request comes once more, and within which time. */
  readonly copies: number
  readonly withinMs: number
  /** Its pause before it asks again; it waits twice as long for an answer. */
  readonly patienceMs: number
}

export interface ReplicaAct {
  readonly at: number
  readonly replica: number
  readonly ms: number
}

/** What becomes of calls that do not get through: they fail at once, or arrive when the way is free again. */
export type HeldUpCalls = 'fail' | 'hang'

/** Everything about a history that is decided before it begins. */
export interface Plan {
  readonly seed: number | string
  readonly faults: ReadonlySet<Fault>
  readonly slots: readonly SlotPlan[]
  /** Of all APIs. */
  readonly origins: readonly string[]
  readonly machines: number
  readonly calls: readonly CallPlan[]
  readonly acts: readonly Act[]
  readonly crashes: readonly PlannedCrash[]
  readonly options: Pick<ClientOptions, 'retry' | 'budget' | 'breaker' | 'attemptTimeout'>
  /** What clients pay retries with: what a new one has, and what a success adds. */
  readonly budget: { readonly tokens: number; readonly ratio: number } | undefined
  /** Nothing goes wrong but what is wrong with some APIs and handlers: nothing else may wait for them. */
  readonly isQuiet: boolean
  readonly troubles: readonly Trouble[]
  readonly backlogs: readonly Backlog[]
  /** Of resumes. */
  readonly concurrency: number | undefined
  /** How long continuous resumes last. */
  readonly watchMs: number
  /** Handlers of this name never end. */
  readonly hangingName: string | undefined
  /** Processes of services, or tabs of one browser. */
  readonly platform: 'processes' | 'tabs'
  /** Can a process see that a peer is dead, or only that its lease has lapsed? */
  readonly liveness: 'known' | 'lease-only'
  /** Does the program have its credentials at hand, or does it ask for them at every attempt? */
  readonly credentials: 'at-hand' | 'asked-for'
  /** Are the client's events listened to, and searched for secrets? */
  readonly observed: boolean
  readonly windowMs: number
  readonly horizonMs: number
  readonly retentionMs: number
  /** Does the server know keys, and does the client believe that it does? */
  readonly server: 'honours-keys' | 'ignores-keys' | 'ledger'
  readonly ledger: LedgerPlan
  readonly honoursKeys: boolean
  /** From then on nothing goes wrong any more, and everything accepted has to come to its end. */
  readonly endsAt: number
}
