import { isThenable } from '../../../foundation/thenable.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { formatHttpDate } from '../../../protocol/http-date.ts'
import { formatKey } from '../../../protocol/idempotency-key.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { AttemptContext, HeadersInput } from '../../options.ts'
import { checkHeaders } from '../../policy/check-headers.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { Call } from '../call/call.ts'
import { trustsOrigin } from './credentials.ts'

/** What the headers of one attempt are made of, beside the client's options. */
export interface HeaderParts {
  readonly record: OperationRecord
  readonly call: Pick<Call, 'credentials' | 'keyed' | 'deadlineAt'>
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
    const leftMs = Math.ceil(Math.min(call.deadlineAt, record.horizonAt) - startedAt)
    if (call.deadlineAt < Number.POSITIVE_INFINITY && leftMs < LONGEST_TOLD_MS)
      said.push([doNotRetry.timeout, String(Math.max(0, leftMs))])
  }
  if (doNotRetry.firstSent && call.keyed) said.push([doNotRetry.firstSent, formatHttpDate(record.acceptedAt)])
  return said
}

/** The later list wins, name by name. */
function merge(later: HeaderList, list: HeaderList): HeaderList {
  return list.length === 0 ? later : list.filter(([name]) => !later.some(([taken]) => taken === name)).concat(later)
}
