import { v4 as uuidv4 } from 'uuid'

/** One key per logical operation: UUIDv4 from the platform's cryptographic source. */
export function newOperationKey(): string {
  return uuidv4()
}

/** Names one runner (one client in one process or tab) in leases. */
export function newRunnerId(): string {
  return uuidv4()
}

/** Names one claim: on a key of the ledger, or on rows of a journal. */
export function newClaimToken(): string {
  return uuidv4()
}
