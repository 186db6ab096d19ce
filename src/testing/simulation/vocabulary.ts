/** Everything that can go wrong in a history. Adding a word here makes a run fail until something does it. */
export const FAULTS = [
  // The network.
  'refused',
  'request-lost',
  'answer-lost',
  'half-open',
  'body-lost',
  'slow-network',
  'duplicate',
  'late-duplicate',
  // The server.
  'server-crash-before',
  'server-crash-after',
  'outage',
  'busy',
  'busy-with-timing',
  'do-not-retry',
  'do-not-retry-after',
  'gateway-error-after',
  'declined',
  'unauthorized',
  'short-window',
  'keys-ignored',
  'odd-body',
  // The disk.
  'disk-full',
  'disk-answer-lost',
  'disk-slow',
  'store-blinks',
  'power-cut',
  // The processes.
  'crash',
  'freeze',
  'clock-ahead',
  'clock-back',
  // The browser around tabs.
  'page-hidden',
  'offline',
  'messages-slow',
  'locks-slow',
  'locks-unknown',
  // The program around the client.
  'handler-throws',
  'handler-slow',
  'handler-leaves',
  'headers-slow',
  'abort',
  'cancel',
  'retry-by-key',
  'same-id',
  'same-key',
  'fresh-signature',
  'key-reuse',
  'close',
  'listed',
  // The ledger, its store and the handlers that it protects.
  'ledger-crash',
  'ledger-freeze',
  'ledger-store-slow',
  'ledger-store-blinks',
  'ledger-store-answer-lost',
  'ledger-record-fails',
  'work-fails',
  'work-fails-after',
  'work-slow',
  // The program again: operations of one lane.
  'lanes',
  // The ledger again.
  'duplicate-burst',
  'renewals-starve',
  'ledger-cut-off',
  'work-throws-refusal',
  'work-ends-transaction',
  'framework-timeout',
  // A router between the clients and the server, which answers and sends again by itself.
  'router-answers',
  'router-retries',
  // The program again: it exits right after a success.
  'program-exits',
  // Handlers that are away for longer than a settlement's retention.
  'handlers-away',
  // A fetch of the program's own, which tries again by itself.
  'fetch-retries',
  // Two APIs, each with clients of its own, on one journal.
  'two-apis',
  // Something else than a client changes a row of the journal.
  'record-changed',
  // The outbox: a transaction of the program's own, which may still be open when its operation is sent.
  'outbox',
  // Users that log in and out in the tabs of one browser.
  'log-in',
  // A connection to the journal's database on which nothing comes any more.
  'connection-silent',
  // Several APIs on one journal, each with troubles of its own, with bursts of calls and backlogs of operations.
  'many-apis',
  'api-blips',
  'api-outage',
  'api-hangs',
  'api-throttles',
  'api-slow',
  'burst',
  'backlog',
  'handler-hangs',
] as const
export type Fault = (typeof FAULTS)[number]

/** What a batch of journal commands does, in the words of an operation's life. */
export const WRITES = [
  'append',
  'attempt',
  'wait',
  'settle',
  'release',
  'deliver',
  'remove',
  'renew',
  'claim',
  'claim-by-key',
  'read',
  'survey',
  'prune',
] as const
export type Write = (typeof WRITES)[number]

/** How far a batch has come: the disk was asked, the bytes are in its cache, they are on it. */
export const STAGES = ['asked', 'unsynced', 'durable'] as const
export type Stage = (typeof STAGES)[number]

const POINTS_BESIDE = [
  'open',
  'send:leaving',
  'send:travelling',
  'send:answered',
  'timer',
  'headers',
  'handler:called',
  'handler:working',
  'handler:done',
] as const

/** What a ledger asks its store. */
export const LEDGER_CALLS = [
  'insert',
  'take-over',
  'renew',
  'complete',
  'release',
  'abandon',
  'transact',
  'find',
  'reap',
  'entries',
  'gauges',
] as const
export type LedgerCall = (typeof LEDGER_CALLS)[number]

const LEDGER_POINTS_BESIDE = [
  'ledger:serving',
  'ledger:in-transaction',
  'ledger:committing',
  'ledger:reconciling',
  'provider:leaving',
  'provider:travelling',
  'provider:answered',
  'ledger:marked',
  'framework:answering',
] as const

/** Where a server can end: before its store is asked, once the store has done it, and in its handlers. */
export type LedgerPoint = `ledger:${LedgerCall}:${'asked' | 'done'}` | (typeof LEDGER_POINTS_BESIDE)[number]
export const LEDGER_POINTS: readonly LedgerPoint[] = [
  ...LEDGER_CALLS.flatMap((call) => [`ledger:${call}:asked`, `ledger:${call}:done`] as const),
  ...LEDGER_POINTS_BESIDE,
]

/** Where a client's process can end: every place at which the client waits for the world. */
export type ClientPoint = `${Write}:${Stage}` | (typeof POINTS_BESIDE)[number]
export const CLIENT_POINTS: readonly ClientPoint[] = [
  ...WRITES.flatMap((write) => STAGES.map((stage) => `${write}:${stage}` as const)),
  ...POINTS_BESIDE,
]

export type SimulatedCrashPoint = ClientPoint | LedgerPoint
export const CRASH_POINTS: readonly SimulatedCrashPoint[] = [...CLIENT_POINTS, ...LEDGER_POINTS]

export const STATES = ['pending', 'succeeded', 'rejected', 'failed', 'expired', 'cancelled', 'parked', 'held'] as const
export type State = (typeof STATES)[number]

/** What happens to records. `give-up`: settled as failed. `take-over`: claimed from a runner that was still named. */
export const TRANSITIONS = [
  'accept',
  'start',
  'end',
  'release',
  'claim',
  'take-over',
  'settle succeeded',
  'settle rejected',
  'settle failed',
  'settle expired',
  'settle cancelled',
  'reopen',
  'delivered',
  'drop',
  'pruned',
  'set aside',
] as const
export type Transition = (typeof TRANSITIONS)[number]

/** The claims that the client makes about an operation: in which of its voices, and of what effect. */
export const CLAIMS = [
  ...['an event', 'a view', 'a look-up', 'a handler'].flatMap((by) =>
    ['none', 'unknown', 'applied'].map((effect) => `${by}: ${effect}`),
  ),
  'a result: success',
  'a result: failure',
] as const
