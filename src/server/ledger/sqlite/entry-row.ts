import type { HeaderList } from '../../../protocol/headers.ts'
import { ENTRY_VERSION, type Entry, type EntryState, type RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, EntryDraft } from '../port.ts'

/** A row as SQLite gives it back: flags as 0 and 1, bytes as the driver's own kind. */
export interface EntryRow {
  readonly id: number
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  readonly state: EntryState
  readonly token: string
  readonly owner: string
  readonly attempt: number
  readonly external: number
  readonly entered: number
  readonly created_at: number
  readonly lease_until: number
  readonly completed_at: number | null
  readonly expires_at: number
  readonly version: number
  readonly status: number | null
  readonly headers: string | null
  readonly body_omitted: number
  readonly body: Uint8Array | null
}

/** An effect is seen only once it is committed, and then the entry is done: nobody meets a running one inside it. */
export function entryOf(row: EntryRow): Entry {
  const { scope, key, fingerprint, method, path, state, token, attempt, version } = row
  return {
    ...{ scope, key, fingerprint, method, path, state, token, attempt, version },
    external: row.external === 1 || (row.entered === 1 && state !== 'done'),
    inEffect: false,
    createdAt: row.created_at,
    leaseUntil: row.lease_until,
    completedAt: row.completed_at,
    expiresAt: row.expires_at,
    answer: answerOf(row),
  }
}

/** What a newer version means by its answer is not ours to read. */
function answerOf({ status, headers, body, body_omitted, version }: EntryRow): RecordedAnswer | null {
  if (status === null || headers === null || version > ENTRY_VERSION) return null
  return {
    status,
    headers: JSON.parse(headers) as HeaderList,
    body: body && new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
    bodyOmitted: body_omitted === 1,
  }
}

export type Values = Readonly<Record<string, unknown>>

/** For `insert` and `takeOver`. */
export function draftValues(draft: EntryDraft, owner: string): Values {
  const { scope, key, fingerprint, method, path, token, now } = draft
  const createdAt = draft.createdAt ?? now
  const times = { now, createdAt, leaseUntil: now + draft.leaseMs, expiresAt: now + draft.retentionMs }
  return { scope, key, fingerprint, method, path, token, owner, external: Number(draft.external), ...times }
}

/** For `record`. */
export function answerValues(claim: Claim, answer: RecordedAnswer, now: number): Values {
  const { status, headers, body, bodyOmitted } = answer
  return { ...mine(claim), now, status, headers: JSON.stringify(headers), body, bodyOmitted: Number(bodyOmitted) }
}

/** For every statement that is fenced by the claim. */
export function mine({ scope, key, token }: Claim): Values {
  return { scope, key, token }
}
