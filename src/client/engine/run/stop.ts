import type { Reason } from '../../../errors/reason.ts'
import { mayStart } from '../../policy/decide.ts'
import type { Call } from '../call/call.ts'
import type { LiveOperation } from './live-operation.ts'

/** Why a run stops, and when it would be worth trying again. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
}

/** Why a run is asked to stop before it is done. */
export type StopOrder =
  | { readonly because: 'cancelled' }
  /** Its last caller has left by a signal, whose reason is the cause. */
  | { readonly because: 'abandoned'; readonly cause: unknown }
  | { readonly because: 'lease-lost' }
  /** `isOverdue`: the grace time is over, and an attempt in flight is aborted. */
  | { readonly because: 'closing'; readonly isOverdue?: true }

/** It is about to end, or to be let go, by order of a caller: a call from now on comes after that. */
export function isBeingLeft({ stopOrder }: LiveOperation): boolean {
  return stopOrder?.because === 'cancelled' || stopOrder?.because === 'abandoned'
}

/** Why no attempt may start now, whatever its origin says. */
export function barred({ stopOrder, record }: LiveOperation, { deadline }: Call, now: number): Stop | undefined {
  if (stopOrder) return { reason: stopOrder.because === 'lease-lost' ? 'lease-lost' : 'aborted' }
  const { horizonAt, notBefore } = record
  const answer = mayStart({ now: Math.max(now, notBefore), deadlineAt: now + deadline.leftFrom(now), horizonAt })
  return answer === 'yes' ? undefined : { reason: answer, retryAt: notBefore > now ? notBefore : undefined }
}
