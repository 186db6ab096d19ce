import type { HeaderList } from '../../../protocol/headers.ts'
import type { Entry, EntryState, RecordedAnswer } from '../../entry/entry.ts'

/** A time as epoch milliseconds. As text, since an application may have told the driver how to read numbers and dates. */
export function inMs(time: string): string {
  return `floor(extract(epoch FROM ${time}) * 1000)::bigint::text`
}

export const ENTRY_COLUMNS = `scope, key, fingerprint, method, path, state, token, attempt::text AS attempt,
  external::text AS external, in_effect::text AS in_effect, ${inMs('created_at')} AS created_at,
  ${inMs('lease_until')} AS lease_until, ${inMs('completed_at')} AS completed_at, ${inMs('expires_at')} AS expires_at,
  status::text AS status, headers, body, body_omitted::text AS body_omitted, version::text AS version`

export interface EntryRow {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  readonly state: EntryState
  readonly token: string
  readonly attempt: string
  readonly external: string
  readonly in_effect: string
  readonly created_at: string
  readonly lease_until: string
  readonly completed_at: string | null
  readonly expires_at: string
  readonly status: string | null
  readonly headers: string | null
  readonly body: Uint8Array | null
  readonly body_omitted: string
  readonly version: string
}

export function entryOf(row: EntryRow): Entry {
  const { scope, key, fingerprint, method, path, state, token } = row
  return {
    ...{ scope, key, fingerprint, method, path, state, token },
    attempt: Number(row.attempt),
    external: row.external === 'true',
    inEffect: row.in_effect === 'true',
    createdAt: Number(row.created_at),
    leaseUntil: Number(row.lease_until),
    completedAt: row.completed_at === null ? null : Number(row.completed_at),
    expiresAt: Number(row.expires_at),
    answer: answerOf(row),
    version: Number(row.version),
  }
}

function answerOf({ status, headers, body, body_omitted }: EntryRow): RecordedAnswer | null {
  if (status === null) return null
  return {
    status: Number(status),
    headers: JSON.parse(headers ?? '[]') as HeaderList,
    body: body && new Uint8Array(body),
    bodyOmitted: body_omitted === 'true',
  }
}

/** The answer as values for `SET status = $n, headers = …, body = …, body_omitted = …`. */
export function answerValues({ status, headers, body, bodyOmitted }: RecordedAnswer): unknown[] {
  return [status, JSON.stringify(headers), body, bodyOmitted]
}
