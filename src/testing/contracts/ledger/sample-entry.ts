import { systemClock } from '../../../foundation/clock.ts'
import { newClaimToken } from '../../../foundation/identity.ts'
import type { Entry, RecordedAnswer } from '../../../server/entry/entry.ts'
import type { Outcome } from '../../../server/entry/outcome.ts'
import type {
  Claim,
  Consumption,
  EntryDraft,
  FoundEntry,
  LedgerStore,
  MessageDraft,
  Transaction,
} from '../../../server/ledger/port.ts'
import { ContractViolation } from '../journal/expect.ts'

export const SCOPE = 'contract'
/** A lease or retention that has lapsed already: no case has to wait for it, whatever clock the store uses. */
export const OVER = -60_000

export const LAPSED = { leaseMs: OVER } as const
export const EXPIRED = { retentionMs: OVER } as const

export function draft(key: string, more: Partial<EntryDraft> = {}): EntryDraft {
  return {
    scope: SCOPE,
    key,
    fingerprint: `fingerprint of ${key}`,
    method: 'POST',
    path: `/orders/${key}`,
    token: newClaimToken(),
    external: false,
    durable: false,
    leaseMs: 60_000,
    retentionMs: 86_400_000,
    now: systemClock.now(),
    ...more,
  }
}

export function answer(more: Partial<RecordedAnswer> = {}): RecordedAnswer {
  const body = new TextEncoder().encode('{"ok": true}')
  return { status: 201, headers: [['content-type', 'application/json']], body, bodyOmitted: false, ...more }
}

export const COMMITTED = { kind: 'recorded', writes: 'committed', answer: answer() } as const
export const ROLLED_BACK = { kind: 'recorded', writes: 'rolled-back', answer: answer({ status: 422 }) } as const
export const RELEASED = { kind: 'released' } as const

/** A claim on an unused key. */
export async function claimed(store: LedgerStore, key: string, more: Partial<EntryDraft> = {}): Promise<Claim> {
  const insertion = await store.insert(draft(key, more))
  if (insertion.kind !== 'inserted') throw new ContractViolation(`the key ${key} is not free`)
  return insertion.claim
}

/** What an insert meets. */
export async function met(store: LedgerStore, key: string): Promise<FoundEntry> {
  const insertion = await store.insert(draft(key))
  if (insertion.kind !== 'found') throw new ContractViolation(`the key ${key} is free`)
  return insertion.found
}

export async function entryAt(store: LedgerStore, key: string): Promise<Entry> {
  const entry = await store.find(SCOPE, key)
  if (!entry) throw new ContractViolation(`there is no entry for ${key}`)
  return entry
}

/** `absent` where there is none. */
export async function stateOf(store: LedgerStore, key: string): Promise<string> {
  return (await store.find(SCOPE, key))?.state ?? 'absent'
}

export async function recorded(store: LedgerStore, key: string, more: Partial<EntryDraft> = {}): Promise<Claim> {
  const claim = await claimed(store, key, more)
  await store.complete(claim, answer(), systemClock.now())
  return claim
}

export function transact(claim: Claim | null, work: Transaction<unknown>['work'], tx?: unknown): Transaction<unknown> {
  return { claim, now: systemClock.now(), work, options: { transaction: tx } }
}

/** The kind of the outcome. */
export async function transacted(store: LedgerStore, transaction: Transaction<unknown>): Promise<Outcome['kind']> {
  return (await store.transact(transaction)).kind
}

export function message(id: string, more: Partial<MessageDraft> = {}): MessageDraft {
  return { scope: SCOPE, id, retentionMs: 86_400_000, now: systemClock.now(), ...more }
}

export function consumption(work: Consumption<unknown>['work'], tx?: unknown): Consumption<unknown> {
  return { work, options: { transaction: tx } }
}

export function lease(leaseMs: number): { readonly leaseMs: number; readonly now: number } {
  return { leaseMs, now: systemClock.now() }
}

export function now(): number {
  return systemClock.now()
}

/** What the work was rejected with; undefined where it was not. */
export function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
}
