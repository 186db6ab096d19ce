import { isDeadOwner } from '../../../foundation/process-owner.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { ENTRY_VERSION, type Entry, type RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, EntryDraft, FoundEntry } from '../port.ts'

/** Columns that are in the row as they are in the entry. */
type Kept = 'scope' | 'key' | 'fingerprint' | 'method' | 'path' | 'state' | 'token'

/** Flags are 0 and 1. */
export interface SqliteEntryRow extends Pick<Entry, Kept | 'attempt' | 'version'> {
  readonly id: number
  readonly owner: string
  readonly external: number
  readonly entered: number
  readonly created_at: number
  readonly lease_until: number
  readonly completed_at: number | null
  readonly expires_at: number
  readonly unknown_since: number | null
  readonly status: number | null
  readonly headers: string | null
  readonly body_omitted: number
  readonly body: Uint8Array | null
}

export interface SqliteGaugesRow {
  readonly entries: number
  readonly unknown: number
  readonly oldestUnknownAt: number | null
  readonly oldestExpiresAt: number | null
}

/** Of rows that may be erased. */
export interface SqlitePageRow {
  readonly rows: number
  readonly last: string | null
  readonly kept: number
}

/** `inEffect` is never true here: the transaction of an effect is seen only once it is committed and the entry done. */
export function sqliteEntry(row: SqliteEntryRow): Entry {
  const { scope, key, fingerprint, method, path, state, token, attempt, version } = row
  return {
    ...{ scope, key, fingerprint, method, path, state, token, attempt, version },
    external: row.external === 1 || (row.entered === 1 && state !== 'done'),
    inEffect: false,
    createdAt: row.created_at,
    leaseUntil: row.lease_until,
    completedAt: row.completed_at,
    expiresAt: row.expires_at,
    unknownSince: row.unknown_since,
    answer: sqliteAnswer(row),
  }
}

/** A claim of a dead process is `gone` whatever its lease says. */
export function foundBy(row: SqliteEntryRow, now: number): FoundEntry {
  const isGone = row.state === 'running' && isDeadOwner(row.owner)
  return { entry: sqliteEntry(row), now, owner: isGone ? 'gone' : 'unsure' }
}

/** An answer of a newer version is not read. */
function sqliteAnswer({ status, headers, body, body_omitted, version }: SqliteEntryRow): RecordedAnswer | null {
  if (status === null || headers === null || version > ENTRY_VERSION) return null
  return {
    status,
    headers: JSON.parse(headers) as HeaderList,
    body: body && new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
    bodyOmitted: body_omitted === 1,
  }
}

export type Bindings = Readonly<Record<string, unknown>>

/** For `insert` and `takeOver`. */
export function draftBindings(draft: EntryDraft, owner: string): Bindings {
  const { scope, key, fingerprint, method, path, token, now } = draft
  const createdAt = draft.createdAt ?? now
  const times = { now, createdAt, leaseUntil: now + draft.leaseMs, expiresAt: now + draft.retentionMs }
  return { scope, key, fingerprint, method, path, token, owner, external: Number(draft.external), ...times }
}

/** For `record` and `recordEntered`. */
export function answerBindings(claim: Claim, answer: RecordedAnswer, now: number): Bindings {
  const { status, headers, body, bodyOmitted } = answer
  return {
    ...fenceBindings(claim),
    now,
    status,
    headers: JSON.stringify(headers),
    body,
    bodyOmitted: Number(bodyOmitted),
  }
}

interface Putting {
  readonly owner: string
  readonly answer: RecordedAnswer
  /** Of the entry that is replaced. */
  readonly seenToken: string | null
}

/** For `put`. */
export function putBindings(draft: EntryDraft, { owner, answer, seenToken }: Putting): Bindings {
  const { scope, key, fingerprint, method, path, token, now } = draft
  const expiresAt = now + draft.retentionMs
  return {
    ...answerBindings({ scope, key, token, attempt: 1 }, answer, now),
    fingerprint,
    method,
    path,
    owner,
    expiresAt,
    seenToken,
  }
}

/** For every statement that is fenced by the claim's token. */
export function fenceBindings({ scope, key, token }: Claim): Bindings {
  return { scope, key, token }
}
