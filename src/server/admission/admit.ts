import { compareFingerprints, ENTRY_VERSION } from '../entry/entry.ts'
import type { FoundEntry } from '../ledger/port.ts'

/** What to do with work whose handler is gone and that may have had an effect outside of the transaction. */
export type OnAbandoned = 'rerun' | 'hold'

export interface AdmissionPolicy {
  readonly external: boolean
  readonly onAbandoned: OnAbandoned | undefined
  /** Is there a `reconcile` to call? */
  readonly canReconcile: boolean
}

type AdmissionRefusal = 'key-reused' | 'in-flight' | 'outcome-unknown' | 'written-by-newer' | 'other-version'

/** What to do with a request whose key has an entry already. */
export type Admission =
  | { readonly kind: 'replay' }
  | { readonly kind: 'refuse'; readonly reason: AdmissionRefusal }
  /** Replace the claim of a dead handler. `next`: what to do under the new one. */
  | { readonly kind: 'take-over'; readonly next: 'run' | 'reconcile' | 'hold' }

export function admit(found: FoundEntry, fingerprints: string | readonly string[], policy: AdmissionPolicy): Admission {
  const { entry, now } = found
  if (entry.version > ENTRY_VERSION) return refuse('written-by-newer')
  if (entry.state === 'done' && entry.expiresAt <= now) return takeOver('run')
  // First of all: another request under the same key must not see the state of this one.
  const compared = compareFingerprints(entry.fingerprint, fingerprints)
  if (compared === 'different') return refuse('key-reused')
  // Perhaps the same request, perhaps another: neither run nor refused for good.
  if (compared === 'incomparable') return refuse('other-version')
  if (entry.state === 'done') return { kind: 'replay' }
  if (entry.state === 'unknown') return admitAbandoned(found, policy)
  return isAlive(found) ? refuse('in-flight') : admitAbandoned(found, policy)
}

/** External work is not run again unless the policy says so. */
export function onAbandonedOf(policy: Pick<AdmissionPolicy, 'external' | 'onAbandoned'>): OnAbandoned {
  return policy.onAbandoned ?? (policy.external ? 'hold' : 'rerun')
}

/** The lease decides, unless the store itself sees whether the handler is alive. */
function isAlive({ entry, owner, now }: FoundEntry): boolean {
  return owner === 'alive' || (owner === 'unsure' && entry.leaseUntil > now)
}

function admitAbandoned({ entry }: FoundEntry, policy: AdmissionPolicy): Admission {
  // An outcome that is unknown is held, whatever its handler was declared as: something may have been done.
  const external = entry.external || entry.state === 'unknown' || policy.external
  // Its transaction was rolled back, and it did nothing outside of that.
  if (entry.state === 'running' && entry.inEffect && !external) return takeOver('run')
  if (policy.canReconcile) return takeOver('reconcile')
  if (onAbandonedOf({ external, onAbandoned: policy.onAbandoned }) === 'rerun') return takeOver('run')
  return entry.state === 'unknown' ? refuse('outcome-unknown') : takeOver('hold')
}

function refuse(reason: AdmissionRefusal): Admission {
  return { kind: 'refuse', reason }
}

function takeOver(next: Extract<Admission, { kind: 'take-over' }>['next']): Admission {
  return { kind: 'take-over', next }
}
