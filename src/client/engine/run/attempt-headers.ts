import { isThenable } from '../../../foundation/thenable.ts'
import type { Redactor } from '../../../observe/redact.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { formatHttpDate } from '../../../protocol/http-date.ts'
import { formatKey } from '../../../protocol/idempotency-key.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { AttemptContext, HeadersInput } from '../../options.ts'
import { checkHeaders } from '../../policy/check-headers.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from './live-operation.ts'
import { saveRecord } from './settle.ts'

/** What the headers of one attempt are made of, beside the client's options. */
export interface HeaderParts {
  readonly record: OperationRecord
  readonly call: Pick<Call, 'credentials' | 'keyed' | 'deadline'>
  /** Of the attempt, from 1. */
  readonly number: number
  readonly startedAt: number
  /** Does this run, or an outer layer, make more than one attempt? Then inner layers are told not to. */
  readonly retries: boolean
  readonly refresh: 'unauthorized' | undefined
}

const NONE: HeaderList = []

/** The client's own headers for this attempt: a promise only where a function makes them. */
export function clientHeaders(options: ResolvedOptions, parts: HeaderParts): HeaderList | Promise<HeaderList> {
  const { headers } = options
  const { record, call } = parts
  if (headers === undefined || !trustsOrigin(options, record.request.origin)) return NONE
  if (typeof headers !== 'function') return headers
  const context: AttemptContext = {
    attempt: parts.number,
    method: record.request.method,
    // Whole: it may be what is signed.
    url: call.credentials?.url ?? record.request.url,
    key: call.keyed ? record.key : undefined,
    refresh: parts.refresh,
  }
  const made: unknown = headers(context)
  return isThenable(made) ? Promise.resolve(made).then(checkMade) : checkMade(made)
}

function checkMade(made: unknown): HeaderList {
  return made === undefined || made === null ? NONE : checkHeaders('headers', made as HeadersInput)
}

/** Everything that goes out with one attempt. The call's own headers win over the client's; ours over both. */
export function attemptHeaders(options: ResolvedOptions, parts: HeaderParts, own: HeaderList): HeaderList {
  const said = ourHeaders(options, parts)
  const call = parts.record.request.headers
  const credentials = parts.call.credentials?.headers ?? NONE
  if (own.length + credentials.length + call.length === 0) return said
  return [own, call, credentials, said].reduceRight(merge)
}

/** A caller that waits for longer than this has set itself no limit. */
const LONGEST_TOLD_MS = 7 * 86_400_000

function ourHeaders({ doNotRetry, keyHeader }: ResolvedOptions, parts: HeaderParts): HeaderList {
  const { record, call, number, startedAt, retries } = parts
  const said: (readonly [string, string])[] = []
  if (call.keyed) said.push([keyHeader.name, formatKey(record.key, keyHeader.format)])
  if (doNotRetry.send && retries) said.push([doNotRetry.send, 'true'])
  if (doNotRetry.attempt) said.push([doNotRetry.attempt, String(number)])
  if (doNotRetry.timeout) {
    // The clock may have been set back while headers were made: then its times are of before.
    const leftMs = Math.min(call.deadline.leftMs, Math.ceil(record.horizonAt - startedAt))
    if (!call.deadline.isEndless && leftMs < LONGEST_TOLD_MS)
      said.push([doNotRetry.timeout, String(Math.max(0, leftMs))])
  }
  if (doNotRetry.firstSent && call.keyed) said.push([doNotRetry.firstSent, formatHttpDate(record.acceptedAt)])
  return said
}

/** The later list wins, name by name. */
function merge(later: HeaderList, list: HeaderList): HeaderList {
  if (list.length === 0) return later
  if (later.length === 0) return list
  const taken = new Set<string>()
  for (const [name] of later) taken.add(name)
  return list.filter(([name]) => !taken.has(name)).concat(later)
}

/*
 * Credentials are never persisted, but their names are: an attempt that would go out without one of them is not
 * sent. A server that admits anonymous callers would do the work for another one, under another scope.
 */

/** The client's headers go only to its own origin and to those it was told to trust. */
export function trustsOrigin({ baseUrl, trustedOrigins }: ResolvedOptions, origin: string): boolean {
  return origin === baseUrl?.origin || trustedOrigins.has(origin)
}

/** A client that has a base sends the operations of its journal nowhere else, whether it resumes or retries them. */
export function maySendTo(options: ResolvedOptions, origin: string): boolean {
  return options.anyOrigin || trustsOrigin(options, origin)
}

/**
 * What the operation's call had and this attempt has not: header names, and query parameters as `?name`. Not asked where a
 * caller calls for it anew: what that call brings is what the caller means.
 */
export function missingCredentials(withheld: readonly string[], own: HeaderList): readonly string[] {
  return withheld.filter((name) => !own.some(([made]) => made === name))
}

/** The credentials that a resume by this client would certainly lack, as known before any header is made. */
export function credentialsLacking(options: ResolvedOptions, { request }: OperationRecord): readonly string[] {
  if (request.withheld.length === 0) return NO_NAMES
  const { headers = [] } = options
  const applied = trustsOrigin(options, request.origin) ? headers : []
  // What a function makes is known when it is called; but it makes no query parameter.
  if (typeof applied === 'function') return request.withheld.filter((name) => name.startsWith('?'))
  return missingCredentials(request.withheld, applied)
}

const NO_NAMES: readonly string[] = []

/** Which credentials the client's `headers` make for each origin, as far as it is known. */
export class LearnedCredentials {
  readonly #options: ResolvedOptions
  readonly #byOrigin = new Map<string, readonly string[]>()

  constructor(options: ResolvedOptions) {
    this.#options = options
  }

  /** For the record of a new operation. What a function makes is known from its earlier calls, if there were any. */
  namesFor(origin: string): readonly string[] {
    const { headers } = this.#options
    if (headers === undefined) return NO_NAMES
    if (typeof headers === 'function') return this.#byOrigin.get(origin) ?? NO_NAMES
    return trustsOrigin(this.#options, origin) ? namesOf(headers, this.#options.redactor) : NO_NAMES
  }

  /**
   * The names of what is about to be sent are on record before, where they were not known at acceptance: the client's own,
   * and those of a call that goes on with what another one began. False: the lease is lost.
   */
  note(
    engine: Pick<Engine, 'keeper'>,
    operation: LiveOperation,
    { own, call }: { readonly own: HeaderList; readonly call: Call },
  ): boolean | Promise<boolean> {
    const { request } = operation.record
    const made = namesOf(own, this.#options.redactor)
    const given = call.credentials?.names ?? NO_NAMES
    const isKnown = (name: string): boolean => request.withheld.includes(name)
    if (made.every(isKnown) && given.every(isKnown)) return true
    const { origin } = request
    this.#byOrigin.set(origin, [...new Set([...(this.#byOrigin.get(origin) ?? NO_NAMES), ...made])])
    const withheld = [...new Set([...request.withheld, ...made, ...given])]
    operation.record = { ...operation.record, request: { ...request, withheld } }
    return saveRecord(engine, operation, call)
  }
}

function namesOf(headers: HeaderList, { isField }: Redactor): readonly string[] {
  return headers.length === 0 ? NO_NAMES : headers.filter(isField).map(([name]) => name)
}
