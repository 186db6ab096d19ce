import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkLabel,
  checkNameList,
  checkObject,
  checkPositiveDuration,
  describe,
  isObject,
  objectWith,
  oneOf,
  refuseBoth,
  refuseOption,
  refuseUnknown,
  wholeFrom,
} from '../../configuration/option-checks.ts'
import { readFields } from '../../configuration/read-options.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { type Clock, systemClock } from '../../foundation/clock.ts'
import type { Encryption } from '../../foundation/encryption.ts'
import { type Random, systemRandom } from '../../foundation/random.ts'
import type { Observer, Telemetry } from '../../observe/port.ts'
import { REDACTOR, Redactor } from '../../observe/redact.ts'
import { type BudgetOptions, createRetryBudget, isRetryBudget, OriginStates } from '../gate/retry-budget.ts'
import type { Journal } from '../journal/port.ts'
import type { ClientOptions, DispatcherLike, FetchLike, HeadersOption, HonoursKeys } from '../options.ts'
import { checkHeaders } from './check-headers.ts'
import { resolveBreaker, resolveLimits } from './resolve-breaker.ts'
import { resolveShared } from './resolve-call.ts'
import { checkDistinct, resolveDoNotRetry, resolveKeyHeader } from './resolve-names.ts'
import { checkOrigins, resolveBaseUrl } from './resolve-origins.ts'
import { DEFAULT_RETRY } from './resolve-retry.ts'
import type { ResolvedCall, ResolvedOptions } from './resolved-options.ts'

export { resolveCall } from './resolve-call.ts'

const DAY_MS = 86_400_000
const MIB = 1024 * 1024

const DEFAULT_CALL: ResolvedCall = {
  retry: DEFAULT_RETRY,
  deadlineMs: 30_000,
  attemptTimeoutMs: 10_000,
  onGiveUp: 'fail',
  accept: undefined,
}

/** An SDK that is handed a fetch has time limits of its own. */
const UNLIMITED = { deadlineMs: Number.POSITIVE_INFINITY, attemptTimeoutMs: Number.POSITIVE_INFINITY }

/** What differs between the platforms. */
export interface PlatformDefaults {
  /** Does this platform send more than the key on its own? A browser doesn't: each header needs the server's CORS permission. */
  readonly sendHeaders: boolean
  /** Where the page, or the script of the worker, came from. */
  readonly pageOrigin?: string | undefined
}

/** What needs nothing but itself to be read. */
const OWN_FIELDS = {
  honoursKeys: [undefined, checkHonoursKeys],
  headers: [undefined, checkClientHeaders],
  credentials: [undefined, oneOf('omit', 'same-origin', 'include')],
  session: [undefined, checkFunction<() => string>],
  durable: [undefined, checkBoolean],
  trustedOrigins: [new Set<string>(), checkOrigins],
  credentialNames: [[], checkNameList],
  journal: ['platform', checkJournal],
  namespace: ['default', checkLabel],
  maxBodyBytes: [10 * MIB, wholeFrom(0)],
  maxResponseBytes: [MIB, wholeFrom(0)],
  maxReadBytes: [64 * MIB, wholeFrom(0)],
  fetch: [undefined, checkFunction<FetchLike>],
  dispatcher: [undefined, objectWith<DispatcherLike>('dispatch')],
  observe: [undefined, checkFunction<Observer>],
  telemetry: [undefined, objectWith<Telemetry>('traceCall')],
  encryption: [undefined, objectWith<Encryption>('seal', 'open')],
  reconcile: [undefined, checkFunction<ClientOptions['reconcile']>],
  clock: [systemClock, objectWith<Clock>('now', 'sleep')],
  random: [systemRandom, checkFunction<Random>],
} as const

type OtherName = Exclude<keyof ClientOptions, keyof typeof OWN_FIELDS>

/** A record, so that the compiler notices an option that is missing here. */
const OTHER_NAMES: { readonly [Name in OtherName]: true } = {
  baseUrl: true,
  retry: true,
  deadline: true,
  attemptTimeout: true,
  dedupWindow: true,
  horizon: true,
  retention: true,
  budget: true,
  breaker: true,
  limits: true,
  doNotRetry: true,
  keyHeader: true,
  accept: true,
  onGiveUp: true,
}
const KNOWN = Object.keys({ ...OTHER_NAMES, ...OWN_FIELDS })

/** Everything checked once, every default filled in, frozen. Throws a ConfigurationError that names the option. */
export function resolveOptions(options: ClientOptions | undefined, platform: PlatformDefaults): ResolvedOptions {
  const given = checkNames(options)
  const keyHeader = resolveKeyHeader(given.keyHeader)
  const doNotRetry = resolveDoNotRetry(given.doNotRetry, platform)
  checkDistinct(keyHeader, doNotRetry)
  const { credentialNames, ...own } = readFields('', given, OWN_FIELDS)
  const baseUrl = resolveBaseUrl(given.baseUrl, platform.pageOrigin)
  if (own.headers && !baseUrl && own.trustedOrigins.size === 0) {
    throw new ConfigurationError('The option `headers` needs `baseUrl` or `trustedOrigins`: it is sent there only.')
  }
  refuseClash(given)
  return Object.freeze({
    ...own,
    redactor: credentialNames.length === 0 ? REDACTOR : new Redactor(credentialNames),
    baseUrl,
    anyOrigin: given.baseUrl === undefined,
    ...resolveShared(given, DEFAULT_CALL),
    dropInCall: Object.freeze(resolveShared(given, { ...DEFAULT_CALL, ...UNLIMITED })),
    ...resolveLifetimes(given),
    budget: resolveBudget(given.budget),
    breaker: resolveBreaker(given.breaker),
    requestLimits: resolveLimits(given.limits),
    doNotRetry,
    keyHeader,
  })
}

/** Options that contradict each other. */
function refuseClash({ fetch, dispatcher, durable, journal, onGiveUp }: ClientOptions): void {
  if (fetch && dispatcher) refuseBoth('fetch', 'dispatcher')
  if (durable && journal === false) refuseBoth('durable: true', 'journal: false')
  if (durable === false && onGiveUp === 'keep') refuseBoth('durable: false', "onGiveUp: 'keep'")
}

function checkNames(options: unknown): ClientOptions {
  if (options === undefined) return {}
  if (!isObject(options)) {
    throw new ConfigurationError(`createClient takes an object of options; it was given ${describe(options)}.`)
  }
  for (const name of Object.keys(options)) if (!KNOWN.includes(name)) refuseUnknown('', name, KNOWN)
  return options
}

type Lifetimes = Pick<ResolvedOptions, 'dedupWindowMs' | 'horizonMs' | 'retentionMs'>

function resolveLifetimes(given: ClientOptions): Lifetimes {
  const { dedupWindow, horizon, retention } = readFields('', given, {
    dedupWindow: [DAY_MS, checkPositiveDuration],
    horizon: [undefined, checkPositiveDuration],
    retention: [undefined, checkDuration],
  })
  const horizonMs = horizon ?? Math.floor(dedupWindow / 3)
  if (horizonMs >= dedupWindow) {
    // A retry after the server has forgotten the key would be a second effect.
    refuseOption(
      'horizon',
      `shorter than \`dedupWindow\` (${dedupWindow} ms), after which the server has forgotten the key`,
      horizonMs,
    )
  }
  return { dedupWindowMs: dedupWindow, horizonMs, retentionMs: retention ?? dedupWindow }
}

function checkHonoursKeys(option: string, given: unknown): HonoursKeys {
  if (typeof given === 'boolean' || typeof given === 'function') return given as HonoursKeys
  return refuseOption(option, 'true, false, or a function of the URL and the method', given)
}

function checkJournal(option: string, given: unknown): ResolvedOptions['journal'] {
  if (given === false) return false
  if (!isObject(given)) return refuseOption(option, "a journal, { fallback: 'memory' }, or false", given)
  if ('execute' in given) return objectWith<Journal>('open', 'execute', 'close')(option, given)
  const { fallback } = checkObject(option, given, ['fallback'])
  oneOf('memory')(`${option}.fallback`, fallback)
  return 'platform-or-memory'
}

function resolveBudget(given: ClientOptions['budget']): OriginStates {
  if (given === false) return new OriginStates(false)
  if (isRetryBudget(given)) return given
  if (given !== undefined && typeof given !== 'object') {
    return refuseOption('budget', 'an object, a RetryBudget, or false for none', given)
  }
  return createRetryBudget(given as BudgetOptions) as OriginStates
}

/** A snapshot: an object that is changed later changes nothing; for that there is the function. */
function checkClientHeaders(option: string, given: HeadersOption): NonNullable<ResolvedOptions['headers']> {
  return typeof given === 'function' ? given : Object.freeze(checkHeaders(option, given))
}
