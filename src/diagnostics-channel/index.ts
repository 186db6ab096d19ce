export {
  CLIENT_CHANNEL,
  LEDGER_CHANNEL,
  publishEvent,
  publishLedgerEvent,
} from '../observe/diagnostics-channel/publish-events.ts'
