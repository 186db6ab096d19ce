import type { LedgerMetrics } from './guard/counters.ts'
import type { ObserveLedger } from './guard/events.ts'

/** Traces and metrics of a ledger; `openTelemetry()` of `holdfast/opentelemetry` makes one. None of it may throw. */
export interface LedgerTelemetry {
  /** An observer that also calls `next`, the option `observe`. */
  ledgerObserver(next: ObserveLedger | undefined): ObserveLedger
  /** Called once for each ledger. What it returns is called when that ledger closes. */
  attachLedger(ledger: { metrics(): Promise<LedgerMetrics> }): () => void
}
