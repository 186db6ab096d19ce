import { checkPositiveDuration, refuseOption, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import type { BreakerLimits, RequestLimits } from '../gate/gate-limits.ts'
import type { BreakerOptions, LimitOptions } from '../gate/gate-options.ts'

export function resolveBreaker(given: BreakerOptions | false | undefined): BreakerLimits | false {
  if (given === false) return false
  if (given !== undefined && typeof given !== 'object') refuseOption('breaker', 'an object, or false for none', given)
  const { openAfter, openFor } = readOptions('breaker', given, {
    openAfter: [5_000, checkPositiveDuration],
    openFor: [2_000, checkPositiveDuration],
  })
  return Object.freeze({ openAfterMs: openAfter, openForMs: openFor })
}

export function resolveLimits(given: LimitOptions | undefined): RequestLimits {
  if (given !== undefined && (typeof given !== 'object' || given === null)) refuseOption('limits', 'an object', given)
  return Object.freeze(
    readOptions('limits', given, {
      concurrency: [undefined, wholeFrom(1)],
      perSecond: [undefined, checkRate],
    }),
  )
}

function checkRate(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= 1_000_000) return value
  return refuseOption(option, 'a number above 0, up to a million', value)
}
