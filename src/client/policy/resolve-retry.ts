import type { RetryOptions } from '../options.ts'
import { checkDuration, checkFunction, checkObject, checkOneOf, checkWhole, refuse } from './option-checks.ts'
import type { ResolvedRetry } from './resolved-options.ts'

export const DEFAULT_RETRY: ResolvedRetry = Object.freeze({
  jitter: 'full',
  baseMs: 100,
  capMs: 20_000,
  maxAttempts: 5,
  statuses: new Set([408, 425, 429, 500, 502, 503, 504]),
  shouldRetry: undefined,
})

const NAMES: readonly (keyof RetryOptions)[] = ['jitter', 'base', 'cap', 'maxAttempts', 'statuses', 'shouldRetry']

/** `given` merged over `fallback`: the defaults for a client, the client's own for a call. */
export function resolveRetry(given: RetryOptions | false | undefined, fallback: ResolvedRetry): ResolvedRetry {
  if (given === undefined) return fallback
  if (given === false) return Object.freeze({ ...fallback, maxAttempts: 1 })
  if (typeof given !== 'object') refuse('retry', 'an object, or false for one attempt', given)
  checkObject('retry', given, NAMES)
  const { jitter, base, cap, maxAttempts, statuses, shouldRetry } = given
  const resolved: ResolvedRetry = {
    jitter:
      jitter === undefined
        ? fallback.jitter
        : checkOneOf('retry.jitter', jitter, ['full', 'equal', 'decorrelated', 'none']),
    baseMs: base === undefined ? fallback.baseMs : checkDuration('retry.base', base),
    capMs: cap === undefined ? fallback.capMs : checkDuration('retry.cap', cap),
    maxAttempts: maxAttempts === undefined ? fallback.maxAttempts : checkWhole('retry.maxAttempts', maxAttempts, 1),
    statuses: statuses === undefined ? fallback.statuses : checkStatuses(statuses),
    shouldRetry: shouldRetry === undefined ? fallback.shouldRetry : checkFunction('retry.shouldRetry', shouldRetry),
  }
  if (resolved.capMs < resolved.baseMs) {
    refuse('retry.cap', `at least \`retry.base\` (${resolved.baseMs} ms)`, resolved.capMs)
  }
  return Object.freeze(resolved)
}

function checkStatuses(value: unknown): ReadonlySet<number> {
  if (!Array.isArray(value)) return refuse('retry.statuses', 'an array of statuses', value)
  for (const status of value) {
    if (!Number.isInteger(status) || status < 300 || status > 599) {
      refuse('retry.statuses', 'made of statuses from 300 to 599 (a 2xx is never retried)', status)
    }
  }
  return new Set<number>(value)
}
