import type { Claimant, DueFilter, SurveyResult } from '../../journal/port.ts'
import type { ClaimedRecord, ClaimWish } from '../../journal/record-keeper.ts'
import type { OperationRecord } from '../../operation/record.ts'
import { acceptedBy, claim, claimStarted, enterLane, release, withdrawAttempt } from '../../operation/transition.ts'
import type { Engine } from '../engine.ts'
import { LiveOperation } from '../run/live-operation.ts'
import { LEASE_MS } from './lease-keeper.ts'

/** Under which name leases are taken here, and whose leases count as free. */
export function claimant(engine: Engine, deadOwners: readonly string[]): Claimant {
  engine.coordination.heartbeat?.()
  const now = engine.clock.now()
  return {
    namespace: engine.options.namespace,
    owner: engine.coordination.owner,
    now,
    leaseUntil: now + LEASE_MS,
    deadOwners,
  }
}

/** The same, after another look at those who were dead a while ago: a tab may be back. */
export async function claimantAmong(engine: Engine, dead: readonly string[]): Promise<Claimant> {
  const self = claimant(engine, dead)
  return dead.length === 0 ? self : { ...self, deadOwners: await engine.coordination.findDead(dead) }
}

/**
 * The record of a fresh claim: an attempt that was left open counts as unknown, and so does the runner that died with it.
 * A runner that was only slow or asleep may have a caller that still waits: the settlement is kept for `retention`.
 */
export function takeOver(
  { clock, coordination }: Pick<Engine, 'clock' | 'coordination'>,
  { record: stored, previousOwner, isStarted }: ClaimedRecord,
  deadOwners: readonly string[],
): OperationRecord {
  const record = acceptedBy(stored, clock.now())
  const lease = { owner: coordination.owner, epoch: record.epoch, until: record.lease?.until ?? 0 }
  if (isStarted) return claimStarted(record, lease)
  if (previousOwner === null) return claim(record, lease, 0)
  const taken = claim(record, lease, record.inFlightSince === undefined ? 0 : 1)
  const isGone = deadOwners.includes(previousOwner) && !coordination.mayReturn?.(previousOwner)
  return isGone || record.status !== 'pending' ? taken : { ...taken, awaited: true }
}

/**
 * After a freeze or a jump of the clock a client may claim what it is working on itself: then the work goes on
 * under the new lease.
 */
export function adopt({ live, coordination }: Engine, { record, previousOwner }: ClaimedRecord): boolean {
  const worker = live.byKey(record.key)
  if (!worker || previousOwner !== coordination.owner || !record.lease) return false
  worker.record = { ...worker.record, lease: record.lease, epoch: record.epoch }
  return true
}

/** Takes one operation by key if it is free, or if its holder counts as gone. */
export async function claimByKey(
  engine: Engine,
  self: Claimant,
  wish: ClaimWish,
): Promise<OperationRecord | undefined> {
  const claimed = await engine.keeper.claimOne(self, wish)
  return claimed && takeOver(engine, claimed, self.deadOwners)
}

/**
 * An operation that has let its lane go and is asked for again takes its place at the end, as pending. False: its lease
 * was lost on the way.
 */
export async function rejoinLane({ keeper }: Engine, operation: LiveOperation): Promise<boolean> {
  const { record, fence } = operation
  if (record.lane === undefined || record.holdsLane) return true
  operation.record = enterLane(record)
  return keeper.appendAnew(operation.record, fence)
}

/** With the holder of the lease as dead, if it is certain that no run goes on under it. The claim is older than the look. */
export async function claimantAfter(engine: Engine, record: OperationRecord, self: LiveOperation): Promise<Claimant> {
  const claim = claimant(engine, [])
  return { ...claim, deadOwners: await goneOwner(engine, record, self) }
}

/** Its runner is dead, or it is this client, which has no such run (the journal failed at the wrong moment). */
async function goneOwner(
  { coordination, live }: Engine,
  { lease, key }: OperationRecord,
  self: LiveOperation,
): Promise<readonly string[]> {
  if (!lease) return []
  if (lease.owner !== coordination.owner) return coordination.findDead([lease.owner])
  const worker = live.byKey(key)
  return worker === undefined || worker === self ? [lease.owner] : []
}

/** When the next claim can succeed (epoch ms), and which runners have leases in force. */
export function survey(engine: Engine, busyNames: readonly string[]): Promise<SurveyResult> {
  const { keeper, options, clock } = engine
  return keeper.survey({ namespace: options.namespace, now: clock.now(), ...dueFilter(engine, busyNames) })
}

/**
 * Which operations a resume of this client takes up: those that it may send now, and settlements that it has handlers for,
 * but not those of `exceptNames`.
 */
export function dueFilter({ options, handlers, gates }: Engine, exceptNames: readonly string[]): DueFilter {
  const { anyOrigin, baseUrl, trustedOrigins } = options
  const own = baseUrl ? [baseUrl.origin] : []
  return {
    deliverNames: handlers.names,
    exceptNames,
    origins: anyOrigin ? '*' : [...new Set([...own, ...trustedOrigins])],
    exceptOrigins: gates.heldOrigins(),
  }
}

/** What a pass knows of dead runners, and what counts as due in it. */
export interface PassTerms {
  readonly dead: readonly string[]
  readonly dueBy: number
}

/** Which pending operations are claimed next. */
export interface Wanted extends PassTerms {
  readonly after: number
  readonly origins?: readonly string[]
  readonly exceptOrigins?: readonly string[]
  readonly lane?: string | undefined
  readonly limit: number
}

export async function claimDue(engine: Engine, { dead, ...wanted }: Wanted) {
  const due = dueFilter(engine, [])
  const asked = wanted.origins ?? due.origins
  const allowed = due.origins
  // What waits at a gate need not be what a resume may send: a caller may have asked for it by its key.
  const origins = asked === '*' || allowed === '*' ? asked : asked.filter((origin) => allowed.includes(origin))
  const self = await claimantAmong(engine, dead)
  return engine.keeper.claim({ ...self, ...due, deliverNames: [], ...wanted, origins, starts: true })
}

/** Gives a claim back as it was found. */
export async function putBackUntouched({ keeper }: Engine, { record, isStarted }: Claimed): Promise<void> {
  const { fence } = new LiveOperation(record)
  const { dueAt, heldBy } = record
  await keeper.commit(release(isStarted ? withdrawAttempt(record) : record, { dueAt, heldBy }), fence)
}

type Claimed = Pick<ClaimedRecord, 'record' | 'isStarted'>

/** Those of the owners that certainly no longer run. */
export async function findDeadOwners({ coordination }: Engine, owners: readonly string[]): Promise<readonly string[]> {
  const others = owners.filter((owner) => owner !== coordination.owner)
  // After the journal was asked: a runner that has a lease there has arrived before, and is seen if it lives.
  return others.length > 0 ? coordination.findDead(others) : []
}
