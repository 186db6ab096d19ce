import { checkPositiveDuration, refuse, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import type { BreakerOptions } from '../options.ts'
import type { ResolvedBreaker } from './resolved-options.ts'

export function resolveBreaker(given: BreakerOptions | false | undefined): ResolvedBreaker | false {
  if (given === false) return false
  if (given !== undefined && typeof given !== 'object') refuse('breaker', 'an object, or false for none', given)
  const { window, openFor, ...rest } = readOptions('breaker', given, {
    failureRate: [0.5, checkRate],
    minimumRequests: [20, wholeFrom(1)],
    window: [10_000, checkPositiveDuration],
    openFor: [5_000, checkPositiveDuration],
    probes: [1, wholeFrom(1)],
  })
  return Object.freeze({ ...rest, windowMs: window, openForMs: openFor })
}

function checkRate(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= 1) return value
  return refuse(option, 'a share above 0 and up to 1', value)
}
