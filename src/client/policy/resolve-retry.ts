import { checkDuration, checkFunction, oneOf, refuseOption, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import type { RetryOptions } from '../options.ts'
import type { ResolvedRetry } from './resolved-options.ts'

export const DEFAULT_RETRY: ResolvedRetry = Object.freeze({
  jitter: 'full',
  baseMs: 100,
  capMs: 20_000,
  maxAttempts: 5,
  spreads: true,
  // From 520 on: what CDNs and load balancers answer for a server that is out of reach or overloaded.
  statuses: new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530]),
  shouldRetry: undefined,
})

/** `given` merged over `fallback`: the defaults for a client, the client's own for a call. */
export function resolveRetry(given: RetryOptions | false | undefined, fallback: ResolvedRetry): ResolvedRetry {
  if (given === undefined) return fallback
  if (given === false) return Object.freeze({ ...fallback, maxAttempts: 1 })
  if (typeof given !== 'object') refuseOption('retry', 'an object, or false for one attempt', given)
  const { base, cap, ...rest } = readOptions('retry', given, {
    jitter: [fallback.jitter, oneOf('full', 'equal', 'decorrelated', 'none')],
    base: [fallback.baseMs, checkDuration],
    cap: [fallback.capMs, checkDuration],
    maxAttempts: [fallback.maxAttempts, wholeFrom(1)],
    statuses: [fallback.statuses, checkStatuses],
    shouldRetry: [fallback.shouldRetry, checkRule],
  })
  if (cap < base) refuseOption('retry.cap', `at least \`retry.base\` (${base} ms)`, cap)
  const isSet = (given.jitter ?? given.base ?? given.cap) !== undefined
  return Object.freeze({ ...rest, baseMs: base, capMs: cap, spreads: fallback.spreads && !isSet })
}

/** An async function is always truthy in its answer, and a retry is decided at once. */
function checkRule(option: string, value: ResolvedRetry['shouldRetry']): ResolvedRetry['shouldRetry'] {
  const isAsync = Object.prototype.toString.call(value) === '[object AsyncFunction]'
  return isAsync
    ? refuseOption(option, 'a function that answers at once, and not an async one', value)
    : checkFunction(option, value)
}

function checkStatuses(option: string, value: unknown): ReadonlySet<number> {
  if (!Array.isArray(value)) return refuseOption(option, 'an array of statuses', value)
  for (const status of value) {
    if (!Number.isInteger(status) || status < 300 || status > 599) {
      refuseOption(option, 'made of statuses from 300 to 599 (a 2xx is never retried)', status)
    }
  }
  return new Set<number>(value)
}
