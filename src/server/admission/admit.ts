import { ENTRY_VERSION } from '../entry/entry.ts'
import { compareFingerprints } from '../entry/fingerprint-version.ts'
import type { FoundEntry } from '../ledger/port.ts'

/** What to do with work whose runner is gone and that may have had an effect outside of our transaction. */
export type OnAbandoned = 'rerun' | 'hold'

export interface AdmissionPolicy {
  readonly external: boolean
  readonly onAbandoned: OnAbandoned | undefined
  /** Is there somebody to ask what has happened? */
  readonly canReconcile: boolean
}

type AdmissionRefusal = 'key-reused' | 'in-flight' | 'outcome-unknown' | 'written-by-newer' | 'other-version'

/** What becomes of a request whose key is already there, and why. */
export type Admission =
  | { readonly kind: 'replay' }
  | { readonly kind: 'refuse'; readonly reason: AdmissionRefusal }
  /** Its claim may be replaced by ours. */
  | { readonly kind: 'take-over'; readonly next: 'run' | 'reconcile' | 'hold' }

export function admit(found: FoundEntry, fingerprint: string, policy: AdmissionPolicy): Admission {
  const { entry, now } = found
  if (entry.version > ENTRY_VERSION) return refuse('written-by-newer')
  if (entry.state === 'done' && entry.expiresAt <= now) return takeOver('run')
  // Before everything else: whoever uses a key for another request must not learn how the first one is doing.
  const compared = compareFingerprints(entry.fingerprint, fingerprint)
  if (compared === 'different') return refuse('key-reused')
  // Perhaps the same request, perhaps another: neither run nor refused for good.
  if (compared === 'incomparable') return refuse('other-version')
  if (entry.state === 'done') return { kind: 'replay' }
  if (entry.state === 'unknown') return abandoned(found, policy)
  return isAlive(found) ? refuse('in-flight') : abandoned(found, policy)
}

/** What is done outside is not done again blindly, unless somebody said so. */
export function onAbandonedOf(said: Pick<AdmissionPolicy, 'external' | 'onAbandoned'>): OnAbandoned {
  return said.onAbandoned ?? (said.external ? 'hold' : 'rerun')
}

/** A lease says nothing where the store itself can see the runner. */
function isAlive({ entry, owner, now }: FoundEntry): boolean {
  return owner === 'held' || (owner === 'unsure' && entry.leaseUntil > now)
}

function abandoned({ entry }: FoundEntry, policy: AdmissionPolicy): Admission {
  const external = entry.external || policy.external
  // All that it did was inside a transaction that is no more: nothing has happened.
  if (entry.state === 'running' && entry.inEffect && !external) return takeOver('run')
  if (policy.canReconcile) return takeOver('reconcile')
  if (onAbandonedOf({ external, onAbandoned: policy.onAbandoned }) === 'rerun') return takeOver('run')
  return entry.state === 'unknown' ? refuse('outcome-unknown') : takeOver('hold')
}

/** Is another request still being worked on under this key? */
export function isInFlight(claimed: { readonly kind: string; readonly reason?: unknown }): boolean {
  return claimed.kind === 'refused' && claimed.reason === 'in-flight'
}

function refuse(reason: AdmissionRefusal): Admission {
  return { kind: 'refuse', reason }
}

function takeOver(next: Extract<Admission, { kind: 'take-over' }>['next']): Admission {
  return { kind: 'take-over', next }
}
