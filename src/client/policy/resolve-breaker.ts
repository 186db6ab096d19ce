import type { BreakerOptions } from '../options.ts'
import { checkObject, checkPositiveDuration, checkWhole, refuse } from './option-checks.ts'
import type { ResolvedBreaker } from './resolved-options.ts'

const DEFAULT_BREAKER: ResolvedBreaker = Object.freeze({
  failureRate: 0.5,
  minimumRequests: 20,
  windowMs: 10_000,
  openForMs: 5_000,
  probes: 1,
})

const NAMES: readonly (keyof BreakerOptions)[] = ['failureRate', 'minimumRequests', 'window', 'openFor', 'probes']

export function resolveBreaker(given: BreakerOptions | false | undefined): ResolvedBreaker | false {
  if (given === undefined) return DEFAULT_BREAKER
  if (given === false) return false
  if (typeof given !== 'object') refuse('breaker', 'an object, or false for none', given)
  checkObject('breaker', given, NAMES)
  const { failureRate, minimumRequests, window, openFor, probes } = given
  const { windowMs, openForMs, ...rest } = DEFAULT_BREAKER
  return Object.freeze({
    failureRate: failureRate === undefined ? rest.failureRate : checkRate(failureRate),
    minimumRequests:
      minimumRequests === undefined ? rest.minimumRequests : checkWhole('breaker.minimumRequests', minimumRequests, 1),
    windowMs: window === undefined ? windowMs : checkPositiveDuration('breaker.window', window),
    openForMs: openFor === undefined ? openForMs : checkPositiveDuration('breaker.openFor', openFor),
    probes: probes === undefined ? rest.probes : checkWhole('breaker.probes', probes, 1),
  })
}

function checkRate(value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= 1) return value
  return refuse('breaker.failureRate', 'a share above 0 and up to 1', value)
}
