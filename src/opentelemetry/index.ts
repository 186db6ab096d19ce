export type { ObservedLedger, ObservedLedgerEvent } from '../observe/opentelemetry/ledger-telemetry.ts'
export {
  type OpenTelemetry,
  type OpenTelemetryOptions,
  openTelemetry,
} from '../observe/opentelemetry/open-telemetry.ts'
