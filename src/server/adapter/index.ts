export type { InboundContext } from '../../foundation/inbound-context.ts'
export type { OnAbandoned } from '../admission/admit.ts'
export type { Consumed } from '../entry/consumed.ts'
export type { EntryState, RecordedAnswer } from '../entry/entry.ts'
export type { Outcome, WithoutAnswer, WorkOutcome } from '../entry/outcome.ts'
export { isReply, type OverloadedOptions } from '../entry/reply.ts'
export type { EraseBatch, ErasedBatch, ErasePlace, LedgerGauges, LedgerStats } from '../entry/upkeep.ts'
export {
  type AdapterOptions,
  type Begun,
  type GuardedLedger,
  guardOf,
  type LedgerGuard,
  type MakeGuard,
} from '../guard/begin.ts'
export type { ObserveLedger } from '../guard/events.ts'
export type { Authorize, ReconcileContext, ShapeRefusal } from '../guard/guard-options.ts'
export type { Session } from '../guard/session.ts'
export type { Answer, Inbound, InboundBody, StreamedAnswer } from '../http/port.ts'
export type { HeaderSource, InboundSource, RetryContextOptions, RetryContexts } from '../http/retry-context.ts'
export type {
  BegunTransaction,
  Claim,
  Consumption,
  EntriesQuery,
  EntryDraft,
  EntryPlace,
  FoundEntry,
  Insertion,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  StatementRunner,
  Transaction,
  TransactOptions,
} from '../ledger/port.ts'
