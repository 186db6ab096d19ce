import { StorageError } from '../../errors/classes.ts'
import { type Moment, momentOf, remainingMs } from '../../foundation/clock.ts'
import { newClaimToken } from '../../foundation/identity.ts'
import { type Admission, admit } from '../admission/admit.ts'
import type { Entry } from '../entry/entry.ts'
import { isSealed } from '../entry/sealed-answer.ts'
import type { Claim, EntryDraft } from '../ledger/port.ts'
import { type GuardOptions, mustSurvive, type Protection } from './guard-options.ts'
import { isInFlight } from './in-flight-waiters.ts'
import type { Held } from './lease.ts'
import { withinStoreTime } from './store-call.ts'

/** A request with a key, as the ledger sees it. */
export interface KeyRequest {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  /** The same request's with older secrets, and without one: compared with a stored one, never stored. */
  readonly otherFingerprints?: readonly string[]
  readonly method: string
  readonly path: string
  /** When it reached the ledger, on the ledger's clock. Undefined where no request is served. */
  readonly receivedAt?: number | undefined
  /** As the caller sends it, for a replay. */
  readonly acceptEncoding?: string | undefined
}

export type ClaimResult =
  /** `heldFrom`: when the store was asked. `from`: the entry that was taken over. */
  | (Held & { readonly kind: 'claimed'; readonly from: Entry | undefined; readonly next: NextStep })
  | { readonly kind: 'replay'; readonly entry: Entry }
  | RefusedClaim

interface RefusedClaim {
  readonly kind: 'refused'
  readonly reason: Extract<Admission, { kind: 'refuse' }>['reason']
}

export type NextStep = Extract<Admission, { kind: 'take-over' }>['next']

/** Other requests may win the race for an abandoned key; after so many lost rounds this one is answered with 409. */
const MOST_ROUNDS = 8

/** With `inFlight: 'wait'`, a request whose key is in flight waits for the end of the first one. */
export async function claimKey(guard: GuardOptions, request: KeyRequest, protection: Protection): Promise<ClaimResult> {
  const until = guard.clock.now() + guard.waitForMs
  const tryAgain = (): Promise<ClaimResult> => claimOnce(guard, request, protection)
  const result = await tryAgain()
  if (guard.inFlight === 'reject' || !isInFlight(result)) return result
  return guard.waiters.wait({ request, tryAgain, until })
}

async function claimOnce(guard: GuardOptions, request: KeyRequest, protection: Protection): Promise<ClaimResult> {
  const policy = { ...protection, canReconcile: protection.reconcile !== undefined }
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const heldFrom = momentOf(guard.clock)
    const draft = draftOf(guard, request, protection)
    const insertion = await askForClaim(guard, heldFrom, {
      ask: () => guard.store.insert(draft),
      undo: (late) => (late.kind === 'inserted' ? guard.store.release(late.claim) : undefined),
    })
    if (insertion.kind === 'inserted') {
      return { kind: 'claimed', claim: insertion.claim, heldFrom, from: undefined, next: 'run' }
    }
    const { entry } = insertion.found
    const admission = admit(insertion.found, allFingerprints(request), policy)
    if (admission.kind === 'replay') return { kind: 'replay', entry }
    if (admission.kind === 'refuse') return refused(entry, admission.reason)
    const taking = takeOverDraft(entry, draft, admission.next)
    const undo = admission.next === 'run' && !taking.external ? 'release' : 'abandon'
    const claim = await askForClaim(guard, heldFrom, {
      ask: () => guard.store.takeOver(entry, taking),
      undo: (late) => (late ? guard.store[undo](late, guard.clock.now()) : undefined),
    })
    const from = entry.state === 'done' ? undefined : entry
    if (claim) return { kind: 'claimed', claim, heldFrom, from, next: admission.next }
  }
  return { kind: 'refused', reason: 'in-flight' }
}

interface ClaimCall<T> {
  readonly ask: () => Promise<T>
  /** Undefined: the store gave no claim. */
  readonly undo: (late: T) => Promise<unknown> | undefined
}

/**
 * A process may stand still between the question and the answer. If the lease is over by then, others may have taken the
 * claim, and no handler begins under it.
 */
async function askForClaim<T>(guard: GuardOptions, heldFrom: Moment, { ask, undo }: ClaimCall<T>): Promise<T> {
  const given = await withinStoreTime(guard, ask, undo)
  if (remainingMs(guard.clock, heldFrom, guard.leaseMs) > 0) return given
  const undone = undo(given)
  if (!undone) return given
  undone.catch(() => {})
  throw new StorageError('The ledger gave a claim after its lease was over')
}

/**
 * A sealed answer that no encryption has opened says more than a fingerprint with a secret that is not known: its replay
 * fails, and tells the operator that the option is missing.
 */
export function refused(entry: Entry, reason: RefusedClaim['reason']): ClaimResult {
  const isUnopened = reason === 'other-version' && entry.answer !== null && isSealed(entry.answer)
  return isUnopened ? { kind: 'replay', entry } : { kind: 'refused', reason }
}

export function allFingerprints({ fingerprint, otherFingerprints = [] }: KeyRequest): readonly string[] {
  return [fingerprint, ...otherFingerprints]
}

/**
 * An entry that was claimed as external stays so, whatever the handler is declared as by now, and one that is unknown
 * counts as external. A claim that only reconciles keeps the age of the entry; one that only makes it unknown keeps its token too:
 * a handler that was taken for dead and is not, because a clock has jumped say, still records what it did.
 */
function takeOverDraft(entry: Entry, draft: EntryDraft, next: NextStep): EntryDraft {
  if (entry.state === 'done') return draft
  const isExternal = entry.external || entry.state === 'unknown'
  const kept = next === 'hold' ? { token: entry.token } : {}
  const taking = next === 'run' ? draft : { ...draft, ...kept, createdAt: entry.createdAt }
  return isExternal ? { ...taking, external: true, durable: true } : taking
}

/** Replaces our own claim, for a handler that begins after a reconciliation. Undefined where the claim was lost. */
export async function reclaimKey(
  guard: GuardOptions,
  { request, protection, claim }: Reclaiming,
): Promise<Held | undefined> {
  const entry = await withinStoreTime(guard, () => guard.store.find(request.scope, request.key))
  if (entry?.token !== claim.token) return undefined
  const heldFrom = momentOf(guard.clock)
  const draft = draftOf(guard, request, protection)
  const fresh = await askForClaim(guard, heldFrom, {
    ask: () => guard.store.takeOver(entry, draft),
    undo: (late) => late && guard.store.release(late),
  })
  return fresh && { claim: fresh, heldFrom }
}

interface Reclaiming {
  readonly request: KeyRequest
  readonly protection: Protection
  readonly claim: Claim
}

export function draftOf(guard: GuardOptions, request: KeyRequest, protection: Protection): EntryDraft {
  const { scope, key, fingerprint, method, path } = request
  return {
    ...{ scope, key, fingerprint, method, path },
    token: newClaimToken(),
    external: protection.external,
    durable: mustSurvive(protection),
    leaseMs: guard.leaseMs,
    retentionMs: guard.retentionMs,
    now: guard.clock.now(),
    patienceMs: guard.storeTimeoutMs,
  }
}
