import type { Settlement } from '../../../client/engine/recover/deliver.ts'
import { isHoldfastError } from '../../../errors/holdfast-error.ts'
import type { Effect } from '../../../errors/reason.ts'
import { MINUTE, type Plan } from '../plan.ts'
import type { Fault } from '../vocabulary.ts'
import type { Violation } from './oracle.ts'
import { labelOf, type Shadow } from './shadow.ts'

/** What an event, a view, a look-up or a handler says of an operation. */
export interface EffectClaim {
  readonly effect: Effect
  readonly by: 'an event' | 'a view' | 'a look-up' | 'a handler'
  /** Of the operation that it speaks of, where it says so: a slow look may still see an earlier use of the key. */
  readonly url?: string
  /** When it was asked for. A process may have stood still since: of what was done after that it says nothing. */
  readonly askedAt?: number
}

interface Truth {
  /** How often it was done by now; and since it was accepted, as far as its client can know. */
  readonly done: number
  readonly knowable: number
  readonly plan: Plan
}

/** P3: a program that gets `none` may do it anew. A server that forgets, or ignores keys, may prove that wrong. */
export function judgeEffectClaim({ effect, by }: EffectClaim, { done, knowable, plan }: Truth): Violation | undefined {
  if (effect === 'applied' && done === 0) return ['P3', `${by} says applied of an operation that was not done`]
  if (effect !== 'none' || knowable === 0 || !isHonest(plan)) return undefined
  return ['P3', `${by} says none of an operation that was done`]
}

/** A client that takes a server which ignores keys for one that honours them can't know the effect. */
export function isHonest({ faults, server, honoursKeys }: Plan): boolean {
  return !faults.has('short-window') && (server !== 'ignores-keys' || !honoursKeys)
}

/** A success that may have been a second one says so. */
export function judgeRepeated(
  { status, mayHaveRepeated }: Pick<Settlement, 'status' | 'mayHaveRepeated'>,
  { doneInThisLife, plan }: { readonly doneInThisLife: number; readonly plan: Plan },
): Violation | undefined {
  if (plan.faults.has('short-window') || status !== 'succeeded' || mayHaveRepeated || doneInThisLife <= 1)
    return undefined
  return ['P3', `a handler gets a success without mayHaveRepeated, and it was done ${doneInThisLife} times`]
}

/** With these a lease changes hands while its runner still works: clocks jump, a cancel comes from outside, a page comes back. */
const LAWLESS: readonly Fault[] = ['clock-ahead', 'clock-back', 'cancel', 'page-hidden']

export function leaseIsLaw({ faults }: Plan): boolean {
  return !LAWLESS.some((fault) => faults.has(fault))
}

/** Where a clock jumps, or two differ, no process knows what a minute is. */
export function knowsMinutes({ faults }: Plan): boolean {
  return !faults.has('clock-ahead') && !faults.has('clock-back')
}

interface Gone {
  readonly shadow: Shadow | undefined
  /** Of the operation that was found. */
  readonly url: string
  readonly plan: Plan
  readonly now: number
}

/** P4: what has settled within a minute can be read. */
export function judgeGone(error: unknown, { shadow, url, plan, now }: Gone): Violation | undefined {
  if (!isHoldfastError(error) || error.code !== 'HOLDFAST_RECORD_GONE' || !shadow || !knowsMinutes(plan)) {
    return undefined
  }
  // Another request may have been written under its key since.
  if (shadow.url !== url) return undefined
  const recent = shadow.status !== 'pending' && now - shadow.decidedAt < MINUTE
  return recent ? ['P4', `the record of an operation is gone ${now - shadow.decidedAt} ms after it settled`] : undefined
}

/** Has its settlement waited for a handler for longer than its retention, by a clock that says so? */
export function isOverdue({ isUndelivered, head }: Shadow, { retentionMs }: Plan, now: number): boolean {
  return isUndelivered && (head.settledAt ?? now) + retentionMs < now
}

/** P4: a settlement that no handler takes is a dead letter once its retention is over, unless it was taken meanwhile. */
export function judgeUnlisted(shadow: Shadow, listed: ReadonlySet<string>): Violation | undefined {
  if (!shadow.isUndelivered || shadow.isChanged || listed.has(shadow.key)) return undefined
  return ['P4', `${labelOf(shadow)} settled, no handler took it within its retention, and it is no dead letter`]
}

/** A tab without work releases its lock half a lease after its last renewal, which is up to a third before its last write. */
export function lockLingerMs(plan: Plan): number {
  if (plan.platform !== 'tabs') return Number.POSITIVE_INFINITY
  return knowsMinutes(plan) ? 5_000 : 0
}
