import { type Claim, type Claimant, type ClaimOne, type JournalRow, type NextDue, RECORD_VERSION } from './port.ts'

/** The rules of claiming, for journals that look at rows one by one (SQL stores say the same in SQL). */

/** Can anybody ever want to claim this row, or does somebody hold it? Only such rows need to be looked through. */
export function isOpen(row: JournalRow): boolean {
  return row.status === 'pending' || row.deliveryDue || row.owner !== null
}

export function isFree(row: JournalRow, claimant: Claimant): boolean {
  return row.owner === null || row.leaseUntil <= claimant.now || claimant.deadOwners.includes(row.owner)
}

export function matchesClaim(row: JournalRow, claim: Claim): boolean {
  if (row.version > RECORD_VERSION || row.dueAt > claim.dueBy || !isFree(row, claim)) return false
  if (row.status !== 'pending') return awaitsDelivery(row, claim.deliverNames)
  return row.notBefore <= claim.now && !claim.exceptOrigins.includes(row.origin)
}

export function matchesClaimOne(row: JournalRow, claim: ClaimOne): boolean {
  return row.version <= RECORD_VERSION && claim.statuses.includes(row.status) && isFree(row, claim)
}

/** When the row can be claimed at the earliest (0 = now), or undefined if only by key or never. */
export function dueTime(row: JournalRow, { exceptOrigins, deliverNames }: NextDue): number | undefined {
  if (row.version > RECORD_VERSION) return undefined
  const isWanted = row.status === 'pending' ? !exceptOrigins.includes(row.origin) : awaitsDelivery(row, deliverNames)
  return isWanted ? claimableAt(row) : undefined
}

export function claimableAt(row: JournalRow): number {
  const lapsesAt = row.owner === null ? 0 : row.leaseUntil
  return Math.max(row.dueAt, row.status === 'pending' ? row.notBefore : 0, lapsesAt)
}

/** All that decides whether `dueTime` wants a row: of each kind, only the earliest needs to be looked at. Null: never. */
export function dueKind({ version, status, origin, name, deliveryDue }: JournalRow): string | null {
  if (status !== 'pending' && !deliveryDue) return null
  return JSON.stringify(status === 'pending' ? [version, origin] : [version, 'settled', name])
}

function awaitsDelivery(row: JournalRow, names: readonly string[] | '*'): boolean {
  if (!row.deliveryDue) return false
  return names === '*' || (row.name !== null && names.includes(row.name))
}
