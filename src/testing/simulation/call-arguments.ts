import type { CallOptions } from '../../client/options.ts'
import { SECRET } from './model-server.ts'
import type { CallPlan } from './plan.ts'

/** What a planned call gives to the client: to a verb, or to `client.fetch`. */

/** A path, where the operation is for the API of the client that is called. */
export function urlOf({ label, origin, signature }: CallPlan, baseUrl: string): string {
  const path = `${origin === baseUrl ? '' : origin}/${label}`
  return signature === undefined ? path : `${path}?signature=${signature}${SECRET}`
}

/** Who calls, and until when. */
export interface CallCircumstances {
  readonly signal: AbortSignal
  /** Who is logged in, where people log in: the request says so, and the cookies that it goes with have to agree. */
  readonly user: string | undefined
}

export function callOptions(plan: CallPlan, { signal, user }: CallCircumstances): CallOptions {
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
    headers: { ...ofUser(user), ...(withCredentials ? { cookie: `session=${SECRET}` } : {}) },
  }
}

export function fetchInit(plan: CallPlan, { signal, user }: CallCircumstances): RequestInit {
  const headers = { 'idempotency-key': `"${plan.key}"`, ...ofUser(user) }
  return { method: plan.method.toUpperCase(), body: bodyOf(plan), headers, signal }
}

export function ofUser(user: string | undefined): Record<string, string> {
  return user === undefined ? {} : { 'x-user': user }
}

export function bodyOf({ label }: Pick<CallPlan, 'label'>): string {
  return `{"operation":"${label}"}`
}
