export type { Encryption } from '../foundation/encryption.ts'
export type { Problem } from './admission/refusal.ts'
export { type AesGcmOptions, aesGcm, type SynchronousEncryption } from './aes-gcm.ts'
export { createLedger } from './create-ledger.ts'
export type { LedgerEncryption } from './encrypted-store.ts'
export type { Entry } from './entry/entry.ts'
export { type EffectReturn, json, overloaded, type Reply, type ReplyInit, reply } from './entry/reply.ts'
export { ClaimLostError, type IdempotencyContext } from './guard/context.ts'
export type { LedgerCounts, LedgerMetrics } from './guard/counters.ts'
export type { IsFinal, JudgedAnswer } from './guard/decide-final.ts'
export type { LedgerEvent } from './guard/events.ts'
export type { ProtectOptions, Reconcile, Reconciled } from './guard/guard-options.ts'
export type { Quota } from './guard/scope-quota.ts'
export type { AtomicContext } from './guard/serve-atomic.ts'
export type { AtomicRequest } from './http/atomic-handler.ts'
export { retryContext } from './http/retry-context.ts'
export { memoryLedger } from './ledger/memory/memory-ledger.ts'
export type { MemoryTransaction } from './ledger/memory/memory-transaction.ts'
export type {
  AtomicOptions,
  ErasedScope,
  EraseOptions,
  Ledger,
  LedgerOptions,
  Once,
  OnceOptions,
  Reaper,
  ReaperOptions,
} from './ledger.ts'
export type { LedgerTelemetry } from './telemetry.ts'
