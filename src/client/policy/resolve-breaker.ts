import { checkPositiveDuration, refuseOption, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import type { BreakerOptions } from '../options.ts'
import type { BreakerLimits } from './containment.ts'

export function resolveBreaker(given: BreakerOptions | false | undefined): BreakerLimits | false {
  if (given === false) return false
  if (given !== undefined && typeof given !== 'object') refuseOption('breaker', 'an object, or false for none', given)
  const { minimumRequests, openFor } = readOptions('breaker', given, {
    minimumRequests: [10, wholeFrom(1)],
    openFor: [2_000, checkPositiveDuration],
  })
  return Object.freeze({ minimumRequests, openForMs: openFor })
}
