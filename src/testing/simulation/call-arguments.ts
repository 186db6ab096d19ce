import type { CallOptions } from '../../client/options.ts'
import { SECRET } from './model-server.ts'
import type { CallPlan } from './plan.ts'

/** What a planned call gives to the client: to a verb, or to `client.fetch`. */

/** A path, where the operation is for the API of the client that is called. */
export function urlOf({ label, origin, signature }: CallPlan, baseUrl: string): string {
  const path = `${origin === baseUrl ? '' : origin}/${label}`
  return signature === undefined ? path : `${path}?signature=${signature}${SECRET}`
}

export function callOptions(plan: CallPlan, signal: AbortSignal): CallOptions {
  const { id, key, name, lane, laneOnFailure, onGiveUp, deadlineMs, withCredentials } = plan
  return {
    body: bodyOf(plan),
    deadline: deadlineMs,
    onGiveUp,
    signal,
    ...(id === undefined ? {} : { id }),
    ...(key === undefined ? {} : { key }),
    ...(name === undefined ? {} : { name }),
    ...(lane === undefined ? {} : { lane, laneOnFailure }),
    ...(withCredentials ? { headers: { cookie: `session=${SECRET}` } } : {}),
  }
}

export function fetchInit(plan: CallPlan, signal: AbortSignal): RequestInit {
  const headers = { 'idempotency-key': `"${plan.key}"` }
  return { method: plan.method.toUpperCase(), body: bodyOf(plan), headers, signal }
}

function bodyOf({ label }: CallPlan): string {
  return `{"operation":"${label}"}`
}
