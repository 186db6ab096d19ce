import type { TransportOutcome } from '../../../client/transport/port.ts'
import type { HoldfastError } from '../../../errors/holdfast-error.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Coverage } from '../coverage.ts'
import type { CallPlan, Plan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'

/** What an oracle has to know of the history before it begins. */
export interface OracleTerms {
  readonly plan: Plan
  readonly coverage: Coverage
  /** Milliseconds from the history's beginning. */
  readonly now: () => number
  /** How long a run by a resume may take. */
  readonly runDeadlineMs: number
}

/** A request on the wire, and what its process got of it. */
export interface SentFact {
  readonly sent: Sent
  readonly process: SimulatedProcess
  readonly at: number
  outcome: TransportOutcome | undefined
  endedAt: number | undefined
}

/**
 * Was the request done by a copy of it that the network or a router had kept, after a ledger had refused the request itself
 * because its key stood for another one? That refusal says what holds as long as the other one has its entry. If that is
 * released, the key is free for the copy, and nobody who sent the request can know. For a request without an answer, the
 * refusal of another attempt proves nothing.
 */
export function isLateCopy(fact: SentFact | undefined, doneAt: number): boolean {
  const { outcome, endedAt } = fact ?? {}
  if (outcome?.kind !== 'response' || outcome.status !== 422 || endedAt === undefined || endedAt > doneAt) return false
  return headerValue(outcome.headers, 'content-type') === 'application/problem+json'
}

/** A call of the program, from the moment it was made. */
export interface CallFact {
  readonly plan: CallPlan
  readonly process: SimulatedProcess
  readonly at: number
  /** As its process measures time at the most. */
  readonly elapsedAt: number
  accepted: boolean
  result: CallResult | undefined
}

/** What a call ended with. `other`: an abort's own reason, which says nothing about the effect. */
export type CallResult =
  | { readonly is: 'response'; readonly at: number }
  | { readonly is: 'error'; readonly at: number; readonly error: HoldfastError }
  | { readonly is: 'other'; readonly at: number }

/** A promise of the contract; `lanes`: what it says of operations with a `lane`. */
export type PromiseName = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P8' | 'P9' | 'P11' | 'lanes'

/** A promise that did not hold. */
export interface BrokenPromise {
  readonly promise: PromiseName
  readonly sentence: string
  /** Milliseconds from the history's beginning. */
  readonly at: number
}
