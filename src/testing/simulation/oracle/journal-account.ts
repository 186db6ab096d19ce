import { LEASE_MS } from '../../../client/engine/recover/lease-keeper.ts'
import { writesLevel } from '../../../client/journal/level-rows.ts'
import type {
  Claimant,
  ClaimedRow,
  JournalCommand,
  JournalResult,
  JournalRow,
  RowChange,
  Write,
} from '../../../client/journal/port.ts'
import { isCommit } from '../../command-meaning.ts'
import type { Coverage } from '../coverage.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import { judgeClaim, judgeFence } from './journal-rules.ts'
import { stopsItsLane } from './lane-rule.ts'
import type { Violation } from './oracle.ts'
import { Shadow } from './shadow.ts'

export interface AccountTerms {
  readonly coverage: Coverage
  readonly now: () => number
  readonly breaks: (verdict: Violation | undefined) => void
  readonly isAlive: (process: string) => boolean
  /** For how long a settled record certainly is there. */
  readonly keptMs: number
  /** After so long without a renewal a live runner has released its lock. */
  readonly releaseAfterMs: number
  /** Was this process asked to cancel an operation, which may take the lease of another runner? */
  readonly cancels: (process: string) => boolean
}

/** For how long its holder has not renewed it: since it asked for it by its clock, and since it was durable. */
function idleMs({ leaseUntil, touchedAt }: Shadow, clock: number, now: number): number {
  return Math.max(clock + LEASE_MS - leaseUntil, now - touchedAt)
}

/** The oracle's own account of the journal, from the commands that became durable and their results. */
export class JournalAccount {
  readonly shadows = new Map<string, Shadow>()
  readonly #terms: AccountTerms
  #lastPlace = 0

  constructor(terms: AccountTerms) {
    this.#terms = terms
  }

  follow(process: SimulatedProcess, command: JournalCommand, result: JournalResult): void {
    if (writesLevel(command)) return
    switch (command.do) {
      case 'append':
        this.#append(command.row, result as { readonly appended: boolean })
        break
      case 'write':
        if (result === true) this.#write(process, command)
        else this.#terms.coverage.saw('observation', 'stale write refused')
        break
      case 'claim':
        for (const row of result as ClaimedRow[]) this.#claim(process, command, row)
        break
      case 'drop':
        if ('expiredBy' in command) this.#prune(command.expiredBy)
        break
      default:
    }
  }

  #append(row: JournalRow, { appended }: { readonly appended: boolean }): void {
    const { coverage } = this.#terms
    if (!appended) {
      coverage.saw('observation', 'joined')
      return
    }
    const shadow = new Shadow(row, { appendedAt: this.#terms.now(), place: ++this.#lastPlace })
    const before = this.shadows.get(row.key)
    this.#secondLife(before, shadow)
    if (row.lane !== null && before) coverage.saw('observation', 'rejoined a lane')
    this.shadows.set(row.key, shadow)
    coverage.saw('transition', 'accept')
    coverage.saw('state', 'pending')
  }

  /** P2, P7: for a minute after it settled, a key means what it meant, and a verdict on it holds. */
  #secondLife(before: Shadow | undefined, now: Shadow): void {
    const { breaks, keptMs } = this.#terms
    if (!before || before.status === 'pending') return
    if (keptMs === 0 || this.#terms.now() - before.decidedAt >= keptMs) return
    if (before.verdictKnown) now.verdictKnown = true
    if (String(before.body) !== String(now.body)) breaks(['P2', 'a key was used for other bytes soon after it settled'])
  }

  #write(process: SimulatedProcess, command: Write): void {
    const { coverage, breaks } = this.#terms
    const shadow = this.shadows.get(command.key)
    breaks(judgeFence(command, shadow))
    if (!shadow) return
    shadow.touchedAt = this.#terms.now()
    if (command.change === 'remove') {
      shadow.removedBy = command.owner
      coverage.saw('transition', 'drop')
    } else if (isCommit(command)) {
      coverage.saw('transition', shadow.commit(command, this.#terms.now()))
      coverage.saw('state', shadow.status)
      const { heldBy } = shadow.head
      this.#followLane(process, shadow, command.change)
      if (heldBy) coverage.saw('state', heldBy === 'poison' ? 'parked' : 'held')
    } else if (command.change === 'set-aside') {
      shadow.setAside = true
      shadow.owner = null
      coverage.saw('transition', 'set aside')
    } else shadow.leaseUntil = command.change.leaseUntil
  }

  #followLane(process: SimulatedProcess, shadow: Shadow, { laneUntil }: RowChange): void {
    const { coverage, breaks, cancels } = this.#terms
    const { status, head, lane } = shadow
    if (head.heldBy === 'lane' || head.reason === 'lane') {
      coverage.saw('observation', 'waited in a lane')
      if (lane === null) breaks(['lanes', 'an operation without a lane was held up by one'])
    }
    if (status === 'pending' || !stopsItsLane(shadow)) return
    coverage.saw('observation', 'stopped a lane')
    shadow.freed = laneUntil === null
    if (shadow.freed)
      breaks(cancels(process.name) ? undefined : ['lanes', 'an operation that stops its lane let it go'])
    else if (shadow.expiresAt !== null)
      breaks(['lanes', 'the record of an operation that stops its lane may be pruned'])
  }

  #claim(process: SimulatedProcess, claimant: Claimant, row: ClaimedRow): void {
    const { coverage, breaks, isAlive, cancels, releaseAfterMs } = this.#terms
    const shadow = this.shadows.get(row.key)
    const hasReleased = shadow !== undefined && idleMs(shadow, claimant.now, this.#terms.now()) >= releaseAfterMs
    breaks(judgeClaim({ claimant, shadow, isAlive, cancels: cancels(process.name), hasReleased }))
    if (shadow) coverage.saw('transition', shadow.claim(row, this.#terms.now()))
  }

  #prune(now: number): void {
    for (const shadow of this.shadows.values()) {
      if (!shadow.there || shadow.status === 'pending' || shadow.expiresAt === null || shadow.expiresAt > now) continue
      shadow.removedBy = 'housekeeping'
      this.#terms.coverage.saw('transition', 'pruned')
      const untold = shadow.deliveryDue && shadow.taken === 0
      if (untold) this.#terms.breaks(['P4', 'a settlement was pruned before a handler took it'])
    }
  }
}
