import type { ClaimedRow, Fence, JournalRow } from '../../../client/journal/port.ts'
import type { HeadV1 } from '../../../client/operation/codec.ts'
import type { OperationStatus } from '../../../client/operation/record.ts'
import { type Commit, parseHead } from '../../command-meaning.ts'
import { BEGINNING } from '../plan.ts'
import type { Transition } from '../vocabulary.ts'

/** What the journal holds about one operation, kept by the oracle from what it saw pass. */
export class Shadow {
  readonly key: string
  readonly name: string | null
  readonly lane: string | null
  /** Where it stands in the order of acceptance. */
  readonly place: number
  readonly body: Uint8Array | null
  readonly url: string
  readonly method: string
  readonly horizonAt: number
  owner: string | null
  epoch: number
  leaseUntil: number
  status: OperationStatus = 'pending'
  deliveryDue = false
  dueAt = 0
  notBefore = 0
  expiresAt: number | null = null
  head: HeadV1
  /** The runner that removed it from the journal. */
  removedBy: string | undefined
  settledAt = 0
  readonly appendedAt: number
  /** When the holder of its lease last wrote. */
  touchedAt: number
  settlements = 0
  reopenings = 0
  /** A do-not-retry verdict is on record, or has reached a caller or a handler. */
  verdictKnown = false
  /** It was cancelled after it had ended: it stops its lane no more. */
  freed = false
  /** Something else than a client has changed its row. */
  isChanged = false
  /** It can't be read as what was accepted: nobody sends it any more. */
  setAside = false
  /** How often a handler has taken its settlement. */
  taken = 0
  /** When a handler was first called with its settlement, and when one last took it. */
  calledAt: number | undefined
  handledAt: number | undefined

  constructor(row: JournalRow, { appendedAt, place }: { readonly appendedAt: number; readonly place: number }) {
    this.lane = row.lane
    this.place = place
    this.appendedAt = appendedAt
    this.touchedAt = appendedAt
    this.key = row.key
    this.name = row.name
    this.body = row.body && new Uint8Array(row.body)
    this.head = parseHead(row.head)
    this.url = this.head.url
    this.method = this.head.method
    this.horizonAt = this.head.horizonAt
    this.owner = row.owner
    this.epoch = row.epoch
    this.leaseUntil = row.leaseUntil
  }

  /** When its runner settled it, by a clock that is right: from then on its retention counts. */
  get decidedAt(): number {
    return (this.head.settledAt ?? BEGINNING) - BEGINNING
  }

  get there(): boolean {
    return this.removedBy === undefined
  }

  /** Does its settlement wait for a handler? */
  get isUndelivered(): boolean {
    return this.open && this.status !== 'pending'
  }

  /** Is there still something to be done about it? */
  get open(): boolean {
    return this.there && !this.setAside && (this.status === 'pending' || this.deliveryDue)
  }

  holds({ owner, epoch }: Pick<Fence, 'owner' | 'epoch'>): boolean {
    return this.there && this.owner === owner && this.epoch === epoch
  }

  isTaken(now: number): void {
    this.taken++
    this.handledAt = now
  }

  /** What a commit did. */
  commit({ change }: Commit, now: number): Transition {
    const before = this.status
    const was = this.head
    this.head = parseHead(change.head)
    this.status = change.status
    this.owner = change.owner
    this.leaseUntil = change.leaseUntil
    this.deliveryDue = change.deliveryDue
    this.dueAt = change.dueAt
    this.notBefore = change.notBefore
    this.expiresAt = change.expiresAt
    if (change.status !== 'pending') {
      this.settledAt = now
      return this.#settled(before, change.status)
    }
    if (before !== 'pending') {
      this.reopenings++
      return 'reopen'
    }
    if (change.owner === null) return 'release'
    return this.head.inFlightSince !== undefined && this.head.inFlightSince !== was.inFlightSince ? 'start' : 'end'
  }

  #settled(before: OperationStatus, status: Exclude<OperationStatus, 'pending'>): Transition {
    if (this.head.reason === 'do-not-retry') this.verdictKnown = true
    if (before === status) return 'delivered'
    // Reopened and settled again between two writes.
    if (before !== 'pending') this.reopenings++
    this.settlements++
    return `settle ${status}`
  }

  claim(row: ClaimedRow, now: number): Transition {
    this.touchedAt = now
    const { previousOwner } = row
    this.owner = row.owner
    this.epoch = row.epoch
    this.leaseUntil = row.leaseUntil
    return previousOwner === null ? 'claim' : 'take-over'
  }
}

/** The logical operation, read from its bytes. */
export function labelOf({ body }: Pick<Shadow, 'body'>): string {
  return body ? (String.fromCharCode(...body).split('"')[3] ?? '') : ''
}
