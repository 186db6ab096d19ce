import { newClaimToken } from '../foundation/identity.ts'
import type { Entry } from './entry/entry.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Claim } from './ledger/port.ts'

/** Takes an entry that is unknown in order to find out about it, or to end it. Undefined where another has it by now. */
export function claimUnknown({ store, clock, ...guard }: GuardOptions, entry: Entry): Promise<Claim | undefined> {
  const { leaseMs, retentionMs } = guard
  const claim = { token: newClaimToken(), durable: true, external: true, leaseMs, retentionMs, now: clock.now() }
  // Everything else, its age included, stays as it is.
  return store.takeOver(entry, { ...entry, ...claim })
}
