import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkPositiveDuration,
  isObject,
  objectWith,
  oneOf,
  refuseOption,
  refuseUnknown,
  wholeFrom,
} from '../configuration/option-checks.ts'
import { readFields } from '../configuration/read-options.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import { HEADER } from '../protocol/header-names.ts'
import { isAccidentalScope } from './admission/check-scope.ts'
import { encryptedStore, type LedgerEncryption } from './encrypted-store.ts'
import { checkFingerprintKeys, fingerprintKeysOf } from './fingerprint-keys.ts'
import type { AdapterOptions } from './guard/begin.ts'
import { LedgerCounters } from './guard/counters.ts'
import { decideFinalBy } from './guard/decide-final.ts'
import type { GuardOptions, Protection, ProtectOptions } from './guard/guard-options.ts'
import { InFlightWaiters } from './guard/in-flight-waiters.ts'
import { ReaperWatch } from './guard/reaper-watch.ts'
import { Background } from './guard/store-call.ts'
import type { LedgerOptions } from './ledger.ts'
import { checkKept, checkName, checkNames, lowerCase } from './name-options.ts'
import { checkQuota, defaultQuota, scopeQuota } from './quota-option.ts'
import type { LedgerTelemetry } from './telemetry.ts'

const PROTECTION = {
  external: [undefined, checkBoolean],
  reconcile: [undefined, checkFunction],
  onAbandoned: [undefined, oneOf('rerun', 'hold')],
  keyFrom: [undefined, checkFunction],
  isFinal: [undefined, checkFunction],
} as const

const MIB = 1024 * 1024

const FIELDS = {
  ...PROTECTION,
  store: [undefined, objectWith('insert', 'takeOver', 'transact', 'find')],
  scope: [undefined, checkScope],
  authorize: [undefined, checkFunction],
  refusal: [undefined, checkFunction],
  documentation: [undefined, checkLink],
  retention: [86_400_000, checkPositiveDuration],
  lease: [60_000, checkPositiveDuration],
  timeout: [undefined, checkPositiveDuration],
  inFlight: ['reject', oneOf('reject', 'wait')],
  waitFor: [10_000, checkDuration],
  required: [true, checkBoolean],
  methods: [['POST', 'PATCH', 'PUT', 'DELETE'], checkNames],
  keyHeader: [HEADER.idempotencyKey, checkName],
  store5xx: [false, checkBoolean],
  maxResponseBytes: [MIB, wholeFrom(0)],
  maxRequestBytes: [10 * MIB, wholeFrom(1)],
  keepHeaders: [[] as readonly string[], checkKept],
  dropHeaders: [[] as readonly string[], checkNames],
  storeTimeout: [5_000, checkPositiveDuration],
  observe: [undefined, checkFunction],
  telemetry: [undefined, objectWith<LedgerTelemetry>('ledgerObserver', 'attachLedger')],
  quota: [undefined, checkQuota],
  encryption: [undefined, objectWith<LedgerEncryption>('seal', 'open')],
  fingerprintKey: [undefined, checkFingerprintKeys],
  clock: [systemClock, objectWith('now', 'sleep')],
} as const

/** What a ledger needs of the platform that it runs on. */
export interface ServerPlatform extends Pick<GuardOptions, 'digest' | 'decodeBody'> {
  /** A sentence for the operator, beside the events: printed once. */
  readonly warn: (sentence: string) => void
}

/** Checked once, so that a mistake shows at start-up and not with the first request. */
export function resolveLedgerOptions(
  given: LedgerOptions<unknown, unknown, unknown>,
  { digest, decodeBody, warn }: ServerPlatform,
): GuardOptions {
  const read = readTopLevel(given, FIELDS)
  if (given.store === undefined)
    throw missing('store', 'where the ledger keeps its entries, e.g. sqliteLedger({ database })')
  if (given.scope === undefined)
    throw missing('scope', "whose keys they are, e.g. (request) => accountOf(request), or 'public'")
  checkTimes(read)
  const clock = given.clock ?? systemClock
  const scope = read.scope as unknown as GuardOptions['scope'] | string
  const guard = {
    store: read.encryption ? encryptedStore(given.store, read.encryption) : given.store,
    scope: typeof scope === 'string' ? () => scope : scope,
    authorize: given.authorize as GuardOptions['authorize'],
    refusal: given.refusal as GuardOptions['refusal'],
    documentation: read.documentation,
    retentionMs: read.retention,
    leaseMs: read.lease,
    timeoutMs: read.timeout,
    storeTimeoutMs: read.storeTimeout,
    inFlight: read.inFlight,
    waitForMs: read.waitFor,
    waiters: new InFlightWaiters(clock),
    required: read.required,
    methods: new Set(read.methods.map((method) => method.toUpperCase())),
    keyHeader: read.keyHeader.toLowerCase(),
    store5xx: read.store5xx,
    maxResponseBytes: read.maxResponseBytes,
    maxRequestBytes: read.maxRequestBytes,
    keepHeaders: lowerCase(read.keepHeaders),
    dropHeaders: lowerCase(read.dropHeaders),
    observe: read.telemetry?.ledgerObserver(given.observe) ?? given.observe,
    counters: new LedgerCounters(),
    reconcile: given.reconcile,
    keyFrom: given.keyFrom,
    clock,
    background: new Background(),
    reaperWatch: new ReaperWatch(clock.now(), warn),
    fingerprintKeys: fingerprintKeysOf(read.fingerprintKey, read.encryption, warn),
    quota: scopeQuota(read.quota ?? defaultQuota(scope), read.quota === undefined ? warn : undefined),
    digest,
    decodeBody,
  }
  return withIsFinal(guard, given.isFinal)
}

/** The guard of a handler with its own `isFinal`. */
export function withIsFinal(guard: GuardOptions, isFinal: ProtectOptions['isFinal']): GuardOptions {
  return isFinal ? { ...guard, decideFinal: decideFinalBy(guard, isFinal) } : guard
}

/** The options of a handler win over those of the ledger. `own` are those of the handler's adapter. */
export function resolveProtection(
  ledger: ProtectOptions,
  given: ProtectOptions = {},
  own: AdapterOptions = {},
): Protection {
  readTopLevel(given, { ...PROTECTION, ...withoutDefaults(own) })
  return {
    external: given.external ?? ledger.external ?? false,
    reconcile: given.reconcile ?? ledger.reconcile,
    onAbandoned: given.onAbandoned ?? ledger.onAbandoned,
    keyFrom: given.keyFrom ?? ledger.keyFrom,
  }
}

/** Options whose names have no owner before them. */
function readTopLevel<const Fields extends Parameters<typeof readFields>[2]>(given: object, fields: Fields) {
  if (!isObject(given)) return refuseOption('options', 'an object', given)
  const known = Object.keys(fields)
  for (const name of Object.keys(given)) if (!known.includes(name)) refuseUnknown('', name, known)
  return readFields('', given as { readonly [Name in keyof Fields]?: unknown }, fields)
}

function withoutDefaults(own: AdapterOptions) {
  return Object.fromEntries(Object.entries(own).map(([name, check]) => [name, [undefined, check] as const]))
}

function checkTimes({
  timeout,
  lease,
  retention,
}: {
  timeout: number | undefined
  lease: number
  retention: number
}): void {
  if (timeout !== undefined && timeout >= lease) {
    throw new ConfigurationError(
      `The option \`timeout\` (${timeout} ms) must be shorter than \`lease\` (${lease} ms), or a handler is taken for dead while it still may run`,
    )
  }
  if (lease >= retention) {
    throw new ConfigurationError(
      `The option \`lease\` (${lease} ms) must be shorter than \`retention\` (${retention} ms), or a key is forgotten while its handler still runs`,
    )
  }
}

function missing(option: string, what: string): ConfigurationError {
  return new ConfigurationError(`The option \`${option}\` is missing: ${what}`)
}

function checkScope(option: string, value: unknown): unknown {
  if (typeof value === 'function' || !isAccidentalScope(value)) return value
  return refuseOption(option, "a function from a request to a string, or 'public'", value)
}

/** As it may stand between `<` and `>` in a header. */
function checkLink(option: string, value: unknown): string {
  if (typeof value === 'string' && /^(?:https?:\/\/|\/)[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(value)) return value
  return refuseOption(option, "the beginning of a URL, such as 'https://docs.example.com/problems/'", value)
}
