import { ConfigurationError } from '../../errors/classes.ts'
import { systemClock } from '../../foundation/clock.ts'
import { systemRandom } from '../../foundation/random.ts'
import type { Journal } from '../journal/port.ts'
import type { ClientOptions, HeadersOption } from '../options.ts'
import { checkHeaders } from './check-headers.ts'
import {
  checkDuration,
  checkFunction,
  checkLabel,
  checkMethods,
  checkObject,
  checkOneOf,
  checkPositiveDuration,
  checkWhole,
  describe,
  isObject,
  refuse,
  refuseUnknown,
} from './option-checks.ts'
import { resolveBreaker } from './resolve-breaker.ts'
import { checkDistinct, resolveDoNotRetry, resolveKeyHeader } from './resolve-names.ts'
import { resolveBaseUrl, resolveOrigins } from './resolve-origins.ts'
import { DEFAULT_RETRY, resolveRetry } from './resolve-retry.ts'
import type { ResolvedCall, ResolvedOptions } from './resolved-options.ts'
import { createRetryBudget, isRetryBudget, type RetryBudget } from './retry-budget.ts'

export { resolveCall } from './resolve-call.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND
const MIB = 1024 * 1024

/** A record, so that the compiler notices an option that is missing here. */
const NAMES: { readonly [Name in keyof ClientOptions]-?: true } = {
  baseUrl: true,
  headers: true,
  trustedOrigins: true,
  journal: true,
  namespace: true,
  retry: true,
  deadline: true,
  attemptTimeout: true,
  dedupWindow: true,
  horizon: true,
  retention: true,
  budget: true,
  breaker: true,
  doNotRetry: true,
  keyHeader: true,
  maxBodyBytes: true,
  maxResponseBytes: true,
  fetch: true,
  dispatcher: true,
  observe: true,
  encryption: true,
  accept: true,
  onGiveUp: true,
  reconcile: true,
  clock: true,
  random: true,
}
const KNOWN = Object.keys(NAMES)

/** What differs between the platforms. */
export interface PlatformDefaults {
  /** Does this platform send more than the key on its own? A browser doesn't: each header needs a server's CORS leave. */
  readonly sendHeaders: boolean
}

/** Everything checked once, every default filled in, frozen. Throws a ConfigurationError that names the option. */
export function resolveOptions(options: ClientOptions | undefined, platform: PlatformDefaults): ResolvedOptions {
  const given = checkNames(options)
  const keyHeader = resolveKeyHeader(given.keyHeader)
  const doNotRetry = resolveDoNotRetry(given.doNotRetry, platform)
  checkDistinct(keyHeader, doNotRetry)
  return Object.freeze({
    ...resolveCallDefaults(given),
    ...resolveLifetimes(given),
    ...resolveSeams(given),
    baseUrl: resolveBaseUrl(given.baseUrl),
    headers: resolveHeaders(given.headers),
    trustedOrigins: resolveOrigins(given.trustedOrigins),
    namespace: optional(given.namespace, 'default', (value) => checkLabel('namespace', value)),
    budget: resolveBudget(given.budget),
    breaker: resolveBreaker(given.breaker),
    doNotRetry,
    keyHeader,
    maxBodyBytes: optional(given.maxBodyBytes, 10 * MIB, (value) => checkWhole('maxBodyBytes', value, 0)),
    maxResponseBytes: optional(given.maxResponseBytes, MIB, (value) => checkWhole('maxResponseBytes', value, 0)),
  })
}

/** `undefined` keeps the default. */
function optional<T, R>(value: T | undefined, fallback: R, check: (value: T) => R): R {
  return value === undefined ? fallback : check(value)
}

function checkNames(options: unknown): ClientOptions {
  if (options === undefined) return {}
  if (!isObject(options)) {
    throw new ConfigurationError(`createClient takes an object of options; it was given ${describe(options)}.`)
  }
  for (const name of Object.keys(options)) if (!KNOWN.includes(name)) refuseUnknown('', name, KNOWN)
  return options
}

function resolveCallDefaults(given: ClientOptions): ResolvedCall {
  return {
    retry: resolveRetry(given.retry, DEFAULT_RETRY),
    deadlineMs: optional(given.deadline, 30 * SECOND, (value) => checkDuration('deadline', value)),
    attemptTimeoutMs: optional(given.attemptTimeout, 10 * SECOND, (value) =>
      checkPositiveDuration('attemptTimeout', value),
    ),
    onGiveUp: optional(given.onGiveUp, 'fail', (value) => checkOneOf('onGiveUp', value, ['fail', 'keep'])),
    accept: optional(given.accept, undefined, (value) => checkFunction('accept', value)),
  }
}

type Lifetimes = Pick<ResolvedOptions, 'dedupWindowMs' | 'horizonMs' | 'retentionMs'>

function resolveLifetimes(given: ClientOptions): Lifetimes {
  const dedupWindowMs = optional(given.dedupWindow, DAY, (value) => checkPositiveDuration('dedupWindow', value))
  const horizonMs = optional(given.horizon, Math.floor(dedupWindowMs / 3), (value) =>
    checkPositiveDuration('horizon', value),
  )
  if (horizonMs >= dedupWindowMs) {
    // A retry after the server has forgotten the key would be a second effect.
    refuse(
      'horizon',
      `shorter than \`dedupWindow\` (${dedupWindowMs} ms), after which the server has forgotten the key`,
      horizonMs,
    )
  }
  return {
    dedupWindowMs,
    horizonMs,
    retentionMs: optional(given.retention, dedupWindowMs, (value) => checkDuration('retention', value)),
  }
}

type Seams = Pick<
  ResolvedOptions,
  'journal' | 'fetch' | 'dispatcher' | 'observe' | 'encryption' | 'reconcile' | 'clock' | 'random'
>

function resolveSeams(given: ClientOptions): Seams {
  if (given.fetch !== undefined && given.dispatcher !== undefined) {
    throw new ConfigurationError(
      'The options `fetch` and `dispatcher` exclude each other: a custom fetch has its own connections.',
    )
  }
  return {
    journal: resolveJournal(given.journal),
    fetch: optional(given.fetch, undefined, (value) => checkFunction('fetch', value)),
    dispatcher: optional(given.dispatcher, undefined, (value) => checkMethods('dispatcher', value, ['dispatch'])),
    observe: optional(given.observe, undefined, (value) => checkFunction('observe', value)),
    encryption: optional(given.encryption, undefined, (value) => checkMethods('encryption', value, ['seal', 'open'])),
    reconcile: optional(given.reconcile, undefined, (value) => checkFunction('reconcile', value)),
    clock: optional(given.clock, systemClock, (value) => checkMethods('clock', value, ['now', 'sleep'])),
    random: optional(given.random, systemRandom, (value) => checkFunction('random', value)),
  }
}

function resolveJournal(given: ClientOptions['journal']): ResolvedOptions['journal'] {
  if (given === undefined) return 'platform'
  if (given === false) return false
  if (!isObject(given)) return refuse('journal', "a journal, { fallback: 'memory' }, or false", given)
  if ('execute' in given) return checkMethods('journal', given as Journal, ['open', 'execute', 'close'])
  const { fallback } = checkObject('journal', given, ['fallback'])
  checkOneOf('journal.fallback', fallback, ['memory'])
  return 'platform-or-memory'
}

function resolveBudget(given: ClientOptions['budget']): RetryBudget | false {
  if (given === false) return false
  if (given === undefined || isRetryBudget(given)) return given ?? createRetryBudget()
  if (typeof given !== 'object') return refuse('budget', 'an object, a RetryBudget, or false for none', given)
  return createRetryBudget(given)
}

/** A snapshot: an object that is changed later changes nothing; for that there is the function. */
function resolveHeaders(given: HeadersOption | undefined): HeadersOption | undefined {
  return typeof given === 'function' || given === undefined ? given : Object.freeze(checkHeaders('headers', given))
}
