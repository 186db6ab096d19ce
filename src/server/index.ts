export type { InboundContext } from '../foundation/inbound-context.ts'
export type { OnAbandoned } from './admission/admit.ts'
export type { Problem } from './admission/refusal.ts'
export { createLedger } from './create-ledger.ts'
export type { Entry, EntryState, RecordedAnswer } from './entry/entry.ts'
export { type EffectReturn, json, type Reply, type ReplyInit, reply } from './entry/reply.ts'
export type { Begun } from './guard/begin.ts'
export { ClaimLostError } from './guard/claim-lost.ts'
export type { IdempotencyContext } from './guard/context.ts'
export type { LedgerEvent, ObserveLedger } from './guard/event.ts'
export type { Authorize, Reconcile, Reconciled, ShapeRefusal } from './guard/guard-options.ts'
export type { ProtectOptions } from './guard/protect-options.ts'
export type { HeaderSource, InboundSource, RetryContextOptions } from './guard/serve-within.ts'
export type { Session } from './guard/session.ts'
export type { Answer, Inbound, InboundBody, UnheldAnswer } from './http/port.ts'
export { memoryLedger } from './ledger/memory/memory-ledger.ts'
export type { MemoryTransaction } from './ledger/memory/memory-undo.ts'
export type {
  Claim,
  Consumed,
  Consumption,
  EntriesQuery,
  EntryDraft,
  EntryPlace,
  FoundEntry,
  Insertion,
  LedgerStats,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  Transacted,
  Transaction,
  TransactOptions,
  Verdict,
} from './ledger/port.ts'
export type { Ledger, Once, OnceOptions, Reaper, ReaperOptions } from './ledger.ts'
export type { LedgerOptions } from './options.ts'
export { type OverloadedOptions, overloaded } from './overloaded.ts'
export { type RetryContexts, retryContext } from './retry-context.ts'
