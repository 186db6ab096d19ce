import { isThenable } from '../../foundation/thenable.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { formatHttpDate } from '../../protocol/http-date.ts'
import { formatKey } from '../../protocol/idempotency-key.ts'
import type { OperationRecord } from '../operation/record.ts'
import type { AttemptContext, HeadersInput } from '../options.ts'
import { checkHeaders } from '../policy/check-headers.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { CallCredentials } from '../request-input.ts'

/** What the headers of one attempt are made of, beside the record. */
export interface AttemptTerms {
  /** The caller's credentials for this call; held in memory only. Undefined where who runs it is not who called. */
  readonly credentials: CallCredentials | undefined
  readonly keyed: boolean
  /** Does this run, or whoever called us, make more than one attempt? Then inner layers are told not to. */
  readonly retries: boolean
  readonly number: number
  readonly remainingMs: number
  readonly refresh: 'unauthorized' | undefined
}

/** The client's own headers for this attempt: a promise only where a function makes them. */
export function clientHeaders(
  options: ResolvedOptions,
  record: OperationRecord,
  terms: AttemptTerms,
): HeaderList | Promise<HeaderList> {
  const { headers } = options
  if (headers === undefined || !trustsOrigin(options, record.request.origin)) return []
  if (typeof headers !== 'function') return headers
  const { method, url } = record.request
  const context: AttemptContext = {
    attempt: terms.number,
    method,
    // Whole: it may be what is signed.
    url: terms.credentials?.url ?? url,
    key: terms.keyed ? record.key : undefined,
    refresh: terms.refresh,
  }
  const made: unknown = headers(context)
  return isThenable(made) ? Promise.resolve(made).then(checkMade) : checkMade(made)
}

function checkMade(made: unknown): HeaderList {
  return made === undefined || made === null ? [] : checkHeaders('headers', made as HeadersInput)
}

/** The client's headers go only to its own origin and to those it was told to trust. */
export function trustsOrigin(options: ResolvedOptions, origin: string): boolean {
  return origin === options.baseUrl?.origin || options.trustedOrigins.has(origin)
}

/** Everything that goes out with one attempt. The call's own headers win over the client's; ours over both. */
export function attemptHeaders(
  options: ResolvedOptions,
  record: OperationRecord,
  parts: { readonly own: HeaderList; readonly terms: AttemptTerms },
): HeaderList {
  const { own, terms } = parts
  const said = ourHeaders(options, record, terms)
  const call = record.request.headers
  const credentials = terms.credentials?.headers ?? []
  if (own.length === 0 && credentials.length === 0) return call.length === 0 ? said : merge([call, said])
  return merge([own, call, credentials, said])
}

/** A caller that waits for longer than this has set itself no limit. */
const LONGEST_TOLD_MS = 7 * 86_400_000

function ourHeaders(options: ResolvedOptions, record: OperationRecord, terms: AttemptTerms): HeaderList {
  const { doNotRetry, keyHeader } = options
  const said: (readonly [string, string])[] = []
  if (terms.keyed) said.push([keyHeader.name, formatKey(record.key, keyHeader.format)])
  if (doNotRetry.send && terms.retries) said.push([doNotRetry.send, 'true'])
  if (doNotRetry.attempt) said.push([doNotRetry.attempt, String(terms.number)])
  if (doNotRetry.timeout && terms.remainingMs < LONGEST_TOLD_MS)
    said.push([doNotRetry.timeout, String(Math.max(0, Math.ceil(terms.remainingMs)))])
  if (doNotRetry.firstSent && terms.keyed) said.push([doNotRetry.firstSent, formatHttpDate(record.acceptedAt)])
  return said
}

/** Later lists win, name by name. */
function merge(lists: readonly HeaderList[]): HeaderList {
  return lists.reduceRight((later, list) =>
    list.filter(([name]) => !later.some(([taken]) => taken === name)).concat(later),
  )
}
