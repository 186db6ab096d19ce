import { StorageError } from '../../../errors/classes.ts'
import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import { ENTRY_VERSION, type Entry, type RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, EntryDraft, FoundEntry, Insertion } from '../port.ts'
import {
  answerValues,
  ENTRY_COLUMNS,
  inMs,
  type LedgerTables,
  type PostgresEntryRow,
  postgresEntry,
} from './ledger-tables.ts'

/** How long a duplicate waits for a transaction that is about to commit before it is answered with 409. */
const COMMIT_PATIENCE = '50ms'
/** Statements of the ledger lock a row for milliseconds; a lock that lasts longer is that of an open transaction. */
export const ROW_PATIENCE = '2s'
const MOST_ROUNDS = 20

/** The row of the claim with this fencing token. */
export const FENCED = `scope = $1 AND key = $2 AND token = $3 AND state = 'running'`

/**
 * Settings for one statement, in the same round trip. No fsync where `durable` is false: the next durable commit flushes
 * it. A claim on external work has to be on disk before that work begins.
 */
function settings(patience: string, durable: string): string {
  return `settings AS MATERIALIZED (SELECT set_config('lock_timeout', '${patience}', true), set_config('synchronous_commit',
    CASE WHEN NOT ${durable} THEN 'off' WHEN current_setting('synchronous_commit') = 'off' THEN 'on'
    ELSE current_setting('synchronous_commit') END, true))`
}

/** The statements on one entry, each in a transaction of its own. */
export class ClaimStatements {
  readonly #entries: string
  readonly #queryable: PostgresQueryable

  constructor(tables: LedgerTables, queryable: PostgresQueryable) {
    this.#entries = tables.entries
    this.#queryable = queryable
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (await this.#inserted(draft)) return { kind: 'inserted', claim: claimOf(draft, 1) }
      const found = await this.look(draft.scope, draft.key)
      if (found) return { kind: 'found', found }
    }
    throw new StorageError(`The ledger in Postgres found a key taken and free again, ${MOST_ROUNDS} times in a row`)
  }

  async #inserted(draft: EntryDraft): Promise<boolean> {
    const text = `WITH ${settings(COMMIT_PATIENCE, '$10::boolean')}
      INSERT INTO ${this.#entries} (scope, key, fingerprint, method, path, token, external, state, attempt, in_effect,
        created_at, lease_until, expires_at, version)
      SELECT $1, $2, $3, $4, $5, $6, $7::boolean, 'running', 1, false, now, now + $8::float8 * interval '1 millisecond',
        now + $9::float8 * interval '1 millisecond', ${ENTRY_VERSION}
      FROM settings, (SELECT clock_timestamp() AS now) clock
      ON CONFLICT (scope, key) DO NOTHING`
    try {
      return (await this.#queryable.query(text, draftValues(draft))).rowCount === 1
    } catch (error) {
      // Another transaction holds the row: the key is taken.
      if (postgresCode((error as Error).cause) === '55P03') return false
      throw error
    }
  }

  /**
   * The entry, and whether its handler is inside of an effect: that holds the row FOR UPDATE, which is the only lock that
   * conflicts with FOR KEY SHARE. Taking a lock is a write, for which no fsync is needed.
   */
  async look(scope: string, key: string): Promise<FoundEntry | undefined> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')}, free AS MATERIALIZED (SELECT id FROM ${this.#entries}
        WHERE scope = $1 AND key = $2 AND state = 'running' FOR KEY SHARE SKIP LOCKED)
      SELECT ${ENTRY_COLUMNS}, EXISTS (SELECT FROM free)::text AS free, ${inMs('clock_timestamp()')} AS now
      FROM settings, ${this.#entries} WHERE scope = $1 AND key = $2`
    const { rows } = await this.#queryable.query(text, [scope, key])
    const row = rows[0] as (PostgresEntryRow & { readonly free: string; readonly now: string }) | undefined
    if (!row) return undefined
    const entry = postgresEntry(row)
    return { entry, now: Number(row.now), owner: ownerByLock(entry, row) }
  }

  /** Only while the entry is as it was seen: a claim that was renewed or has begun its effect since is alive. */
  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const text = `WITH ${settings(ROW_PATIENCE, '$10::boolean')}, free AS MATERIALIZED (
        SELECT id FROM ${this.#entries} WHERE scope = $1 AND key = $2 AND token = $11 AND state = $12
          AND in_effect = $13::boolean AND ${inMs('lease_until')} = $14
          AND (state <> 'done' OR expires_at <= clock_timestamp()) FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE ${this.#entries} AS entry SET fingerprint = $3, method = $4, path = $5, token = $6, external = $7::boolean,
        state = 'running', attempt = CASE entry.state WHEN 'done' THEN 1 ELSE entry.attempt + 1 END, in_effect = false,
        created_at = coalesce('epoch'::timestamptz + $15::float8 * interval '1 millisecond', now),
        lease_until = now + $8::float8 * interval '1 millisecond',
        expires_at = now + $9::float8 * interval '1 millisecond', completed_at = NULL, status = NULL, headers = NULL,
        body = NULL, body_omitted = false, version = ${ENTRY_VERSION}
      FROM settings, free, (SELECT clock_timestamp() AS now) clock
      WHERE entry.id = free.id RETURNING entry.attempt::text AS attempt`
    const seen = [found.token, found.state, found.inEffect, String(found.leaseUntil), draft.createdAt ?? null]
    const { rows } = await this.#queryable.query(text, [...draftValues(draft), ...seen])
    const row = rows[0] as { readonly attempt: string } | undefined
    return row && claimOf(draft, Number(row.attempt))
  }

  /** A row that is locked is locked by the claim's own effect, which needs no lease. */
  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')}, free AS MATERIALIZED (
        SELECT id FROM ${this.#entries} WHERE ${FENCED} FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE ${this.#entries} AS entry SET lease_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
      FROM settings, free WHERE entry.id = free.id`
    const { rowCount } = await this.#queryable.query(text, [...fenceValues(claim), leaseMs])
    return rowCount === 1 || this.#isCurrent(claim)
  }

  async #isCurrent(claim: Claim): Promise<boolean> {
    const { rows } = await this.#queryable.query(`SELECT FROM ${this.#entries} WHERE ${FENCED}`, fenceValues(claim))
    return rows.length === 1
  }

  /** Also from `unknown`: a handler whose lease lapsed still knows what it did. */
  async complete(claim: Claim, answer: RecordedAnswer): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'true')} UPDATE ${this.#entries} SET state = 'done',
        completed_at = clock_timestamp(), status = $4, headers = $5, body = $6, body_omitted = $7
      FROM settings WHERE scope = $1 AND key = $2 AND token = $3 AND state IN ('running', 'unknown')`
    return (await this.#queryable.query(text, [...fenceValues(claim), ...answerValues(answer)])).rowCount === 1
  }

  async release(claim: Claim): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')} DELETE FROM ${this.#entries} USING settings WHERE ${FENCED}`
    return (await this.#queryable.query(text, fenceValues(claim))).rowCount === 1
  }

  async abandon(claim: Claim): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'true')}
      UPDATE ${this.#entries} SET state = 'unknown' FROM settings WHERE ${FENCED}`
    return (await this.#queryable.query(text, fenceValues(claim))).rowCount === 1
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const text = `SELECT ${ENTRY_COLUMNS} FROM ${this.#entries} WHERE scope = $1 AND key = $2`
    const { rows } = await this.#queryable.query(text, [scope, key])
    const row = rows[0] as PostgresEntryRow | undefined
    return row && postgresEntry(row)
  }
}

/** The parameters of `FENCED`. */
export function fenceValues({ scope, key, token }: Claim): unknown[] {
  return [scope, key, token]
}

function ownerByLock(entry: Entry, { free }: { readonly free: string }): FoundEntry['owner'] {
  if (entry.state !== 'running') return 'unsure'
  if (free !== 'true') return 'alive'
  // It had begun its effect, and its transaction was rolled back.
  return entry.inEffect ? 'gone' : 'unsure'
}

function claimOf({ scope, key, token }: EntryDraft, attempt: number): Claim {
  return { scope, key, token, attempt }
}

function draftValues(draft: EntryDraft): unknown[] {
  const { scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable } = draft
  return [scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable]
}
