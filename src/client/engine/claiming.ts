import type { Claimant } from '../journal/port.ts'
import type { ClaimedRecord } from '../journal/record-keeper.ts'
import type { OperationRecord, OperationStatus } from '../operation/record.ts'
import { claim } from '../operation/transition.ts'
import type { EngineContext } from './engine-context.ts'
import { LEASE_MS } from './lease-keeper.ts'
import type { LiveOperation } from './live-operation.ts'

/** Who we are and whose leases count as free. */
export function claimant(engine: EngineContext, deadOwners: readonly string[]): Claimant {
  engine.coordination.arrive?.()
  const now = engine.clock.now()
  return {
    namespace: engine.options.namespace,
    owner: engine.coordination.owner,
    now,
    leaseUntil: now + LEASE_MS,
    deadOwners,
  }
}

/** The record of a fresh claim: an attempt that was left open counts as unknown, and so does the runner that died with it. */
export function takeOver(
  engine: EngineContext,
  { record, previousOwner }: ClaimedRecord,
  deadOwners: readonly string[],
): OperationRecord {
  const lease = { owner: engine.coordination.owner, epoch: record.epoch, until: record.lease?.until ?? 0 }
  const died = previousOwner !== null && record.inFlightSince !== undefined
  const taken = claim(record, lease, died ? 1 : 0)
  // Its runner may only have been slow, or sleep, and somebody there may still wait for the answer.
  const waited =
    record.status === 'pending' &&
    previousOwner !== null &&
    (!deadOwners.includes(previousOwner) || engine.coordination.mayReturn?.(previousOwner) === true)
  return { ...taken, awaited: taken.awaited || waited }
}

/**
 * After a freeze or a jump of the clock a client may claim what it is working on itself: then the work goes on
 * under the new lease.
 */
export function adopt(engine: EngineContext, { record, previousOwner }: ClaimedRecord): boolean {
  const worker = engine.live.byKey(record.key)
  if (!worker || previousOwner !== engine.coordination.owner || !record.lease) return false
  worker.record = { ...worker.record, lease: record.lease, epoch: record.epoch }
  return true
}

/** Takes one operation by key if it is free, or if its holder is certainly gone. */
export async function claimByKey(
  engine: EngineContext,
  key: string,
  { statuses, deadOwners }: { readonly statuses: readonly OperationStatus[]; readonly deadOwners: readonly string[] },
): Promise<OperationRecord | undefined> {
  const claimed = await engine.keeper.claimOne(claimant(engine, deadOwners), key, statuses)
  return claimed && takeOver(engine, claimed, deadOwners)
}

/**
 * The holder of the lease, where it is certain that nobody works under it: its runner is dead, or it is we
 * ourselves and we don't (the journal failed at the wrong moment).
 */
export async function goneOwner(
  engine: EngineContext,
  { lease, key }: OperationRecord,
  self?: LiveOperation,
): Promise<readonly string[]> {
  if (!lease) return []
  if (lease.owner !== engine.coordination.owner) return engine.coordination.findDead([lease.owner])
  const worker = engine.live.byKey(key)
  return worker === undefined || worker === self ? [lease.owner] : []
}

/** Owners with leases in force who certainly no longer run. */
export async function deadOwners(engine: EngineContext): Promise<readonly string[]> {
  const owners = await engine.keeper.owners(engine.options.namespace, engine.clock.now())
  const others = owners.filter((owner) => owner !== engine.coordination.owner)
  // After the journal was asked: a runner that has a lease there has arrived before, and is seen if it lives.
  return others.length > 0 ? engine.coordination.findDead(others) : []
}
