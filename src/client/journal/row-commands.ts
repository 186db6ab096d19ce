import { StorageError } from '../../errors/classes.ts'
import { BODILESS_STATUSES, OPERATION_STATUSES } from '../operation/record.ts'
import {
  type Claimant,
  type ClaimByKey,
  type ClaimDue,
  type ClaimedRow,
  type DueFilter,
  type JournalCommand,
  type JournalResult,
  type JournalRow,
  type PlacedRow,
  RECORD_VERSION,
  type Survey,
  type Write,
} from './port.ts'
import { claimedHead, type SentAtOnce } from './started-head.ts'

/**
 * What the commands mean for single rows: which rows each needs, and what it makes of them. For journals that look at
 * rows one by one; SQL stores say the same in SQL.
 */

/** A row as it is kept; replaced as a whole, never changed in place. */
export interface KeptRow extends PlacedRow {
  readonly setAside: boolean
}

/** The one row with this id or, failing that, this key. */
export interface WantedOne {
  readonly index: 'key'
  readonly namespace: string
  readonly key: string
  readonly id?: string | null
}
/** Rows in the order of their places; `'open'` has those of `isOpenRow` only. */
export interface WantedInOrder {
  readonly index: 'all' | 'open'
  readonly namespace: string
  readonly after?: number
  readonly limit?: number
  readonly where?: (row: KeptRow) => boolean
  /** Without those of `waitsInLane` at this time that are not the first of their lane. */
  readonly turnAt?: number
}
/** The first row that holds the lane. */
export interface WantedFirst {
  readonly index: 'lane'
  readonly namespace: string
  readonly lane: string
}
/** Rows that have expired by `now`; an index may know it, `where` says so of each. */
export interface WantedExpired {
  readonly index: 'expiry'
  readonly now: number
  readonly limit: number
  readonly where: (row: KeptRow) => boolean
}
export type Wanted = WantedOne | WantedInOrder | WantedFirst | WantedExpired

/** What is to be done, and what to answer. */
export interface Decision {
  readonly insert?: JournalRow
  readonly put?: readonly KeptRow[]
  /** With a `put` of one row: the new body of its answer. Without it, the one that is there stays. */
  readonly responseBody?: Uint8Array | null
  /** With a `put` of one row: the body of its request goes. */
  readonly dropsBody?: boolean
  readonly delete?: readonly KeptRow[]
  /** Rows that the answer needs with their bodies. */
  readonly handOut?: readonly KeptRow[]
  readonly answer: JournalResult | ((handedOut: PlacedRow[]) => JournalResult)
}

export interface RowPlan {
  readonly wanted: Wanted
  readonly decide: (found: readonly KeptRow[]) => Decision
}

/** A survey needs no rows but their indexes: see `dueTime` and `dueKind`. Throws where the command can't be stored. */
export function planOf(command: Exclude<JournalCommand, Survey>): RowPlan {
  switch (command.do) {
    case 'append':
      return planAppend(command.row)
    case 'write':
      return planWrite(command)
    case 'claim':
      return 'key' in command ? planClaimByKey(command) : planClaim(command)
    case 'read': {
      const { namespace, keyOrId } = command
      const wanted = { index: 'key', namespace, key: keyOrId, id: keyOrId } as const
      return { wanted, decide: (handOut) => ({ handOut, answer: ([row]) => row }) }
    }
    case 'list': {
      const { namespace, status, undelivered, after, limit } = command
      const where = (row: KeptRow): boolean =>
        (status === undefined || row.status === status) && (!undelivered || isUndelivered(row))
      const index = undelivered || status === 'pending' ? 'open' : 'all'
      const wanted = { index, namespace, after, limit, where } as const
      return { wanted, decide: (handOut) => ({ handOut, answer: (rows) => rows }) }
    }
    case 'lane': {
      const { namespace, lane } = command
      return { wanted: { index: 'lane', namespace, lane }, decide: ([first]) => ({ answer: first?.key }) }
    }
    case 'drop': {
      const decide = (rows: readonly KeptRow[]): Decision => ({ delete: rows, answer: rows.length })
      if ('namespace' in command) return { wanted: { index: 'all', namespace: command.namespace }, decide }
      const { expiredBy: now, limit } = command
      const where = ({ setAside, expiresAt }: KeptRow): boolean => !setAside && expiresAt !== null && expiresAt <= now
      return { wanted: { index: 'expiry', now, limit, where }, decide }
    }
  }
}

function planAppend(row: JournalRow): RowPlan {
  refuseUnstorable(row)
  const { namespace, key, id } = row
  return {
    wanted: { index: 'key', namespace, key, id },
    decide: ([existing]) => {
      if (!existing) return { insert: row, answer: { appended: true } }
      return { handOut: [existing], answer: ([found]) => ({ appended: false, existing: found as PlacedRow }) }
    },
  }
}

function planWrite({ namespace, key, owner, epoch, change }: Write): RowPlan {
  if (typeof change === 'object') refuseUnstorable(change)
  return {
    wanted: { index: 'key', namespace, key },
    decide: ([row]) => {
      if (!row || row.owner !== owner || row.epoch !== epoch) return { answer: false }
      if (change === 'remove') return { delete: [row], answer: true }
      if (change === 'set-aside') return { put: [{ ...row, owner: null, leaseUntil: 0, setAside: true }], answer: true }
      if (!('head' in change)) return { put: [{ ...row, ...change }], answer: true }
      const dropsBody = BODILESS_STATUSES.includes(change.status)
      const put = [{ ...row, ...change, body: dropsBody ? null : row.body }]
      return { put, responseBody: change.responseBody, dropsBody, answer: true }
    },
  }
}

function planClaim(claim: ClaimDue): RowPlan {
  const { namespace, after, limit, lane, now: turnAt } = claim
  const where = (row: KeptRow): boolean => {
    const isDue = row.dueAt <= claim.dueBy && (row.status !== 'pending' || row.notBefore <= claim.now)
    return isDue && (lane === undefined || row.lane === lane) && isWanted(row, claim) && hasFreeLease(row, claim)
  }
  return {
    wanted: { index: 'open', namespace, after, limit, where, turnAt },
    decide: (rows) => takeLeases(rows, claim),
  }
}

function planClaimByKey(claim: ClaimByKey): RowPlan {
  const { namespace, key, statuses } = claim
  const fits = (row: KeptRow): boolean =>
    !row.setAside && row.version <= RECORD_VERSION && statuses.includes(row.status) && hasFreeLease(row, claim)
  return { wanted: { index: 'key', namespace, key }, decide: (rows) => takeLeases(rows.filter(fits), claim) }
}

function takeLeases(rows: readonly KeptRow[], claim: Claimant & SentAtOnce): Decision {
  const { owner, leaseUntil } = claim
  const taken = rows.map((row) => ({ ...row, owner, leaseUntil, epoch: row.epoch + 1, head: claimedHead(row, claim) }))
  const claimed = (row: PlacedRow, at: number): ClaimedRow => ({ ...row, previousOwner: rows[at]?.owner ?? null })
  return { put: taken, handOut: taken, answer: (handedOut) => handedOut.map(claimed) }
}

/**
 * If the lease of a dead owner is newer than the claim, the owner took it after the claimant had looked who is alive: it is
 * back, as a tab can be. A lease that is newer by more than a lease shows only that the clock was set back.
 */
function hasFreeLease({ owner, leaseUntil }: KeptRow, claim: Claimant): boolean {
  if (owner === null || leaseUntil <= claim.now) return true
  const newerMs = leaseUntil - claim.leaseUntil
  const isBack = newerMs > 0 && newerMs <= claim.leaseUntil - claim.now
  return claim.deadOwners.includes(owner) && !isBack
}

/** The rule of `DueFilter`. */
function isWanted(row: KeptRow, { deliverNames, exceptNames, origins, exceptOrigins }: DueFilter): boolean {
  if (row.setAside || row.version > RECORD_VERSION) return false
  if (row.status === 'pending') {
    return (origins === '*' || origins.includes(row.origin)) && !exceptOrigins.includes(row.origin)
  }
  if (exceptNames.includes(row.name ?? '')) return false
  return row.deliveryDue && (deliverNames === '*' || (row.name !== null && deliverNames.includes(row.name)))
}

function isUndelivered({ status, deliveryDue }: KeptRow): boolean {
  return status !== 'pending' && deliveryDue
}

/** Pending, awaiting delivery, or held: claims and surveys look through such rows only. */
export function isOpenRow(row: JournalRow): boolean {
  return row.status === 'pending' || row.deliveryDue || row.owner !== null
}

/** Can the row be claimed only as the first of its lane? Past its horizon it is claimed to expire, wherever it stands. */
export function waitsInLane({ status, laneUntil }: KeptRow, now: number): boolean {
  return status === 'pending' && typeof laneUntil === 'number' && laneUntil > now
}

/** When the row can be claimed at the earliest (0 = now); infinite where the filter does not want it. */
export function dueTime(row: KeptRow, filter: DueFilter, claimable: (row: JournalRow) => number): number {
  return isWanted(row, filter) ? claimable(row) : Number.POSITIVE_INFINITY
}

export function claimableAt(row: JournalRow): number {
  const lapsesAt = row.owner === null ? 0 : row.leaseUntil
  return Math.max(row.dueAt, row.status === 'pending' ? row.notBefore : 0, lapsesAt)
}

/** The same where it is behind in its lane. */
export function claimableBehindAt(row: JournalRow): number {
  return Math.max(claimableAt(row), row.status === 'pending' ? (row.laneUntil ?? 0) : 0)
}

/** All that decides whether a filter wants a row: of each kind, only the earliest needs to be looked at. Null: never. */
export function dueKind({ setAside, version, status, origin, name, deliveryDue }: KeptRow): string | null {
  if (setAside || (status !== 'pending' && !deliveryDue)) return null
  return JSON.stringify(status === 'pending' ? [version, origin] : [version, 'settled', name])
}

/** Half of a character pair. */
const LONE_SURROGATE = /\p{Surrogate}/u

const STATUSES: ReadonlySet<unknown> = new Set(OPERATION_STATUSES)

/**
 * Every journal refuses what a store could silently falsify: a lone surrogate comes back from UTF-8 as another
 * character, and a number that is not finite is no key of an index. A row of unknown status would never end: it may
 * come from the caller's `reconcile`. One sum stands for all numbers.
 */
export function refuseUnstorable(row: Partial<JournalRow>): void {
  const { status = 'pending', version = 0, epoch = 0, leaseUntil = 0, dueAt = 0, notBefore = 0 } = row
  const sum = version + epoch + leaseUntil + dueAt + notBefore + (row.expiresAt ?? 0) + (row.laneUntil ?? 0)
  let isStorable = STATUSES.has(status) && Number.isFinite(sum)
  // One by one: joining them first takes four times as long.
  for (const text of [row.namespace, row.key, row.id, row.name, row.lane, row.origin, row.owner]) {
    if (text && LONE_SURROGATE.test(text)) isStorable = false
  }
  if (isStorable) return
  throw new StorageError('The journal refuses an unknown status, a number that is not finite, and a lone surrogate')
}
