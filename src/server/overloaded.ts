import { ConfigurationError } from '../errors/classes.ts'
import { type Duration, parseDuration } from '../foundation/duration.ts'
import { HEADER } from '../protocol/header-names.ts'
import { PROBLEM } from '../protocol/problem-details.ts'
import { json, type Reply } from './entry/reply.ts'

export interface OverloadedOptions {
  /** When it may be asked again, by somebody who begins anew. Told in whole seconds, rounded up. Default: not told. */
  readonly retryAfter?: Duration | undefined
  /** A sentence for whoever reads the answer. */
  readonly detail?: string | undefined
}

/**
 * The answer *overloaded, do not retry*: 503, and every layer outside gives up at once instead of coming back.
 *
 * ```ts
 * if (queue.length > 1000) return overloaded({ retryAfter: '30s' })
 * ```
 */
export function overloaded(options: OverloadedOptions = {}): Reply {
  const { retryAfter, detail = 'There is more to do than can be done. Coming back now would make it worse.' } = options
  const problem = { type: PROBLEM.overloaded, status: 503, title: 'Overloaded', detail }
  const headers = { 'content-type': 'application/problem+json', [HEADER.doNotRetry]: 'true' }
  if (retryAfter === undefined) return json(problem, { status: 503, headers })
  const ms = parseDuration(retryAfter)
  if (ms === undefined) throw new ConfigurationError("overloaded: retryAfter must be a duration, such as '30s'")
  return json(problem, { status: 503, headers: { ...headers, 'retry-after': String(Math.ceil(ms / 1000)) } })
}
