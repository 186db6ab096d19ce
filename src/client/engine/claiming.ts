import type { Claimant } from '../journal/port.ts'
import type { ClaimedRecord } from '../journal/record-keeper.ts'
import type { OperationRecord, OperationStatus } from '../operation/record.ts'
import { claim } from '../operation/transition.ts'
import type { EngineContext } from './engine-context.ts'
import { LEASE_MS } from './lease-keeper.ts'

/** Who we are and whose leases count as free. */
export function claimant(engine: EngineContext, deadOwners: readonly string[]): Claimant {
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
export function takeOver(engine: EngineContext, { record, previousOwner }: ClaimedRecord): OperationRecord {
  const lease = { owner: engine.coordination.owner, epoch: record.epoch, until: record.lease?.until ?? 0 }
  const died = previousOwner !== null && record.inFlightSince !== undefined
  const taken = claim(record, lease, died ? 1 : 0)
  // Its runner may only have been slow, and somebody there may still wait for the answer.
  const slow = record.status === 'pending' && previousOwner !== null && !engine.coordination.isDead(previousOwner)
  return { ...taken, awaited: taken.awaited || slow }
}

/** Takes one operation by key if it is free, or if its holder is certainly gone. */
export async function claimByKey(
  engine: EngineContext,
  key: string,
  { statuses, deadOwners }: { readonly statuses: readonly OperationStatus[]; readonly deadOwners: readonly string[] },
): Promise<OperationRecord | undefined> {
  const claimed = await engine.keeper.claimOne(claimant(engine, deadOwners), key, statuses)
  return claimed && takeOver(engine, claimed)
}

/** Can somebody else take it now? */
export function isFree(engine: EngineContext, { lease }: OperationRecord): boolean {
  return !lease || lease.until <= engine.clock.now() || engine.coordination.isDead(lease.owner)
}

/** Owners with leases in force who certainly no longer run. */
export async function deadOwners(engine: EngineContext): Promise<string[]> {
  const owners = await engine.keeper.owners(engine.options.namespace, engine.clock.now())
  return owners.filter((owner) => owner !== engine.coordination.owner && engine.coordination.isDead(owner))
}
