import { startAttempt } from '../operation/transition.ts'
import { LEASE_MS } from './lease-keeper.ts'
import type { LiveOperation } from './live-operation.ts'
import type { Persistence } from './persistence.ts'

/** Is the attempt written down already? (A fresh operation is accepted with its first attempt on it.) A lease that lapsed on the way (a slow disk, a frozen process) has to be proven first: somebody may have taken it. */
export function isOnRecord({ record }: LiveOperation, now: number): boolean {
  return record.inFlightSince !== undefined && record.lease !== undefined && record.lease.until > now
}

/** The attempt is on record before its first byte. False: the lease is lost. */
export function putOnRecord(operation: LiveOperation, persistence: Persistence, now: number): Promise<boolean> {
  const { lease, inFlightSince } = operation.record
  if (inFlightSince === undefined) operation.record = startAttempt(operation.record, now)
  if (lease && lease.until <= now) {
    operation.record = { ...operation.record, lease: { ...lease, until: now + LEASE_MS } }
  }
  return persistence.save(operation)
}
