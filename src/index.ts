export type { CallContext } from './client/call-context.ts'
export type {
  Client,
  CloseOptions,
  DeadLettersQuery,
  FoundOperation,
  OperationsQuery,
  ResumeOptions,
  RetryCallOptions,
  SettlementHandlerOf,
  SettlementOf,
} from './client/client.ts'
export type { PeerMessage } from './client/coordination/port.ts'
export { createClient } from './client/create-client.ts'
export { aesGcm } from './client/encryption/aes-gcm.ts'
export type { Settlement, SettlementHandler } from './client/engine/recover/deliver.ts'
export type { ResumeReport } from './client/engine/recover/resume-report.ts'
export type { BreakerOptions, LimitOptions } from './client/gate/gate-options.ts'
export type { OriginView } from './client/gate/origin-view.ts'
export { createRetryBudget, type RetryBudget } from './client/gate/retry-budget.ts'
export { memoryJournal } from './client/journal/memory/memory-journal.ts'
export type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from './client/journal/port.ts'
export type { DeadLetter } from './client/operation/dead-letter.ts'
export type { Json, OperationStatus, SettledStatus } from './client/operation/record.ts'
export type { OperationView } from './client/operation/view.ts'
export type { OperationHandle } from './client/operation-handle.ts'
export type {
  AttemptContext,
  BodyInput,
  BudgetOptions,
  CallOptions,
  ClientOptions,
  DispatcherLike,
  DoNotRetryOptions,
  FetchLike,
  HeadersInput,
  HeadersOption,
  Jitter,
  JournalFallback,
  KeyHeaderOptions,
  ReconciledOutcome,
  RetryContext,
  RetryOptions,
} from './client/options.ts'
export type { PreparedOperation } from './client/prepared-operation.ts'
export {
  BodyError,
  ConfigurationError,
  IndeterminateError,
  KeyReuseError,
  NotSentError,
  RejectedError,
  StorageError,
} from './errors/classes.ts'
export type { AnyHoldfastError, HoldfastCode } from './errors/codes.ts'
export { type AttemptSummary, HoldfastError, isHoldfastError, type OperationRef } from './errors/holdfast-error.ts'
export type { Effect, Reason, ViewReason } from './errors/reason.ts'
export type { Clock } from './foundation/clock.ts'
export type { Duration } from './foundation/duration.ts'
export type { Encryption } from './foundation/encryption.ts'
export type { Random } from './foundation/random.ts'
export type {
  ClientGauges,
  HoldfastEvent,
  Observer,
  OriginGauges,
  Sender,
  Telemetry,
  TracedCall,
  TracedRecord,
  WorkTrace,
} from './observe/port.ts'
export type { ProblemDetails } from './protocol/problem-details.ts'
