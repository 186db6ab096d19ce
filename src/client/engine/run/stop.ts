import type { Reason } from '../../../errors/reason.ts'
import { mayStart } from '../../policy/decide.ts'
import type { Call } from '../call/call.ts'
import type { LiveOperation } from './live-operation.ts'

/** Why a run stops, and when it would be worth trying again. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
}

/** Why no attempt may start now, whatever its origin says. */
export function barred({ stopOrder, record }: LiveOperation, { deadlineAt }: Call, now: number): Stop | undefined {
  if (stopOrder) return { reason: stopOrder.because === 'lease-lost' ? 'lease-lost' : 'aborted' }
  const { horizonAt, notBefore } = record
  const answer = mayStart({ now: Math.max(now, notBefore), deadlineAt, horizonAt })
  return answer === 'yes' ? undefined : { reason: answer, retryAt: notBefore > now ? notBefore : undefined }
}
