import type { Claimant, Fence, JournalCommand } from '../../../client/journal/port.ts'
import { isCommit, kindOf } from '../../command-meaning.ts'
import { SECRET } from '../model-server.ts'
import type { Violation } from './oracle.ts'
import type { Shadow } from './shadow.ts'

/** P8: a write goes through only for the holder of the newest lease. */
export function judgeFence(fence: Fence, shadow: Shadow | undefined): Violation | undefined {
  if (shadow?.holds(fence)) return undefined
  const holder = shadow?.there
    ? `${shadow.owner ?? 'no runner'}, epoch ${shadow.epoch}`
    : 'no runner: the record is gone'
  return ['P8', `${fence.owner} wrote under epoch ${fence.epoch} while the lease was with ${holder}`]
}

export interface Claiming {
  readonly claimant: Claimant
  readonly shadow: Shadow | undefined
  readonly isAlive: (owner: string) => boolean
  /** This runner was asked to cancel it, which may take the lease of another runner. */
  readonly cancels: boolean
  /** The lease was not renewed: its runner lives, and no longer works on it. */
  readonly hasReleased: boolean
}

/** P8: a lease is taken only where it is free. */
export function judgeClaim({ claimant, shadow, isAlive, cancels, hasReleased }: Claiming): Violation | undefined {
  if (!shadow?.there) return ['P8', `${claimant.owner} claimed an operation that is not there`]
  const { owner, leaseUntil } = shadow
  if (owner === null || owner === claimant.owner || leaseUntil <= claimant.now) return undefined
  if (!isAlive(owner) || cancels || hasReleased) return undefined
  return [
    'P8',
    `${claimant.owner} took the lease of ${owner}, which is alive and has it for ${leaseUntil - claimant.now} ms`,
  ]
}

/** P9: no credential is ever written down. */
export function judgeSecrets(command: JournalCommand): Violation | undefined {
  const head = command.do === 'append' ? command.row.head : isCommit(command) ? command.change.head : ''
  return head.includes(SECRET) ? ['P9', `a credential is in the record that ${kindOf(command)} writes`] : undefined
}
