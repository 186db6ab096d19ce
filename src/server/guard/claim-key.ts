import { newClaimToken } from '../../foundation/identity.ts'
import { type Admission, admit, isInFlight } from '../admission/admit.ts'
import type { Entry } from '../entry/entry.ts'
import type { Claim, EntryDraft } from '../ledger/port.ts'
import { type GuardOptions, mustOutlive, type Protection } from './guard-options.ts'
import { withinStoreTime } from './within-store-time.ts'

/** What a request asks of the ledger. */
export interface KeyRequest {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
}

/** Ours to work on, or somebody's finished or unfinished work. */
export type Claimed =
  | { readonly kind: 'claimed'; readonly claim: Claim; readonly from: Entry | undefined; readonly next: Next }
  | { readonly kind: 'replay'; readonly entry: Entry }
  | { readonly kind: 'refused'; readonly reason: Extract<Admission, { kind: 'refuse' }>['reason'] }

export type Next = Extract<Admission, { kind: 'take-over' }>['next']

/** Others may win the race for an abandoned key again and again; whoever has lost this often is told to come back. */
const MOST_ROUNDS = 8

/** Takes the key, or says who has it; with `inFlight: 'wait'` only after having waited for them. */
export async function claimKey(guard: GuardOptions, request: KeyRequest, protection: Protection): Promise<Claimed> {
  const until = guard.clock.now() + guard.waitForMs
  const look = (): Promise<Claimed> => claimOnce(guard, request, protection)
  const claimed = await look()
  if (guard.inFlight === 'reject' || !isInFlight(claimed)) return claimed
  return guard.waiters.wait({ request, look, until })
}

async function claimOnce(guard: GuardOptions, request: KeyRequest, protection: Protection): Promise<Claimed> {
  const policy = { ...protection, canReconcile: protection.reconcile !== undefined }
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const draft = draftOf(guard, request, protection)
    const insertion = await withinStoreTime(guard, guard.store.insert(draft), (late) =>
      late.kind === 'inserted' ? guard.store.release(late.claim) : undefined,
    )
    if (insertion.kind === 'inserted') {
      return { kind: 'claimed', claim: insertion.claim, from: undefined, next: 'run' }
    }
    const { entry } = insertion.found
    const admission = admit(insertion.found, request.fingerprint, policy)
    if (admission.kind === 'replay') return { kind: 'replay', entry }
    if (admission.kind === 'refuse') return { kind: 'refused', reason: admission.reason }
    const taking = continuing(entry, draft, admission.next)
    const undo = admission.next === 'run' && !taking.external ? 'release' : 'abandon'
    const claim = await withinStoreTime(guard, guard.store.takeOver(entry, taking), (late) =>
      late ? guard.store[undo](late, guard.clock.now()) : undefined,
    )
    if (claim) return { kind: 'claimed', claim, from: entry.state === 'done' ? undefined : entry, next: admission.next }
  }
  return { kind: 'refused', reason: 'in-flight' }
}

/**
 * What was begun as external stays so, whatever the handler is declared as by now, and what is unknown may have been
 * done outside. An entry that is only to be found out about keeps its age.
 */
function continuing(entry: Entry, draft: EntryDraft, next: Next): EntryDraft {
  if (entry.state === 'done') return draft
  const isExternal = entry.external || entry.state === 'unknown'
  const taking = next === 'run' ? draft : { ...draft, createdAt: entry.createdAt }
  return isExternal ? { ...taking, external: true, durable: true } : taking
}

/** A new claim in place of our own, for a handler that begins only now. Undefined where the claim was lost. */
export async function claimAgain(
  guard: GuardOptions,
  { request, protection, claim }: Reclaiming,
): Promise<Claim | undefined> {
  const entry = await withinStoreTime(guard, guard.store.find(request.scope, request.key))
  if (entry?.token !== claim.token) return undefined
  const draft = draftOf(guard, request, protection)
  return withinStoreTime(guard, guard.store.takeOver(entry, draft), (late) => late && guard.store.release(late))
}

interface Reclaiming {
  readonly request: KeyRequest
  readonly protection: Protection
  readonly claim: Claim
}

function draftOf(guard: GuardOptions, request: KeyRequest, protection: Protection): EntryDraft {
  return {
    ...request,
    token: newClaimToken(),
    external: protection.external,
    durable: mustOutlive(protection),
    leaseMs: guard.leaseMs,
    retentionMs: guard.retentionMs,
    now: guard.clock.now(),
  }
}
