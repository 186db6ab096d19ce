import { StorageError } from '../../../errors/classes.ts'
import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import { ENTRY_VERSION, type Entry, type RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, EntryDraft, FoundEntry, Insertion } from '../port.ts'
import { answerValues, ENTRY_COLUMNS, type EntryRow, entryOf, inMs } from './entry-row.ts'
import type { LedgerTables } from './ledger-tables.ts'

/** A duplicate that meets a transaction in the moment of its commit waits this long before it calls it in flight. */
const COMMIT_PATIENCE = '50ms'
/** Others hold a row for one statement only; whoever holds it for longer has a transaction open. */
const ROW_PATIENCE = '2s'
const MOST_ROUNDS = 20

/** This claim's row, as long as it is running. */
export const MINE = `scope = $1 AND key = $2 AND token = $3 AND state = 'running'`

/**
 * Settings for one statement, in the same round trip. What needs no disk of its own is flushed by the next commit
 * that does; a claim on work outside of our transaction has to be on disk before that work begins.
 */
function settings(patience: string, durable: string): string {
  return `settings AS MATERIALIZED (SELECT set_config('lock_timeout', '${patience}', true), set_config('synchronous_commit',
    CASE WHEN NOT ${durable} THEN 'off' WHEN current_setting('synchronous_commit') = 'off' THEN 'on'
    ELSE current_setting('synchronous_commit') END, true))`
}

/** The moves of an entry, each one a statement and a transaction of its own. */
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
      // Somebody's transaction has written the row and is about to end: it is there, and theirs.
      if (postgresCode((error as Error).cause) === '55P03') return false
      throw error
    }
  }

  /**
   * What stands there, and whether somebody works on it. Whoever is inside an effect holds the row for update; this
   * asks for the weakest of locks, which collides with that one only. A lock is a write too, but none that is to be
   * waited for until it is on disk.
   */
  async look(scope: string, key: string): Promise<FoundEntry | undefined> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')}, free AS MATERIALIZED (SELECT id FROM ${this.#entries}
        WHERE scope = $1 AND key = $2 AND state = 'running' FOR KEY SHARE SKIP LOCKED)
      SELECT ${ENTRY_COLUMNS}, EXISTS (SELECT FROM free)::text AS free, ${inMs('clock_timestamp()')} AS now
      FROM settings, ${this.#entries} WHERE scope = $1 AND key = $2`
    const { rows } = await this.#queryable.query(text, [scope, key])
    const row = rows[0] as (EntryRow & { readonly free: string; readonly now: string }) | undefined
    if (!row) return undefined
    const entry = entryOf(row)
    return { entry, now: Number(row.now), owner: ownerOf(entry, row) }
  }

  /** Only from exactly what was seen: a claim that was renewed or has entered its effect since is alive. */
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

  /** Where the row is held, it is held by this claim's own effect, which needs no lease. */
  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')}, free AS MATERIALIZED (
        SELECT id FROM ${this.#entries} WHERE ${MINE} FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE ${this.#entries} AS entry SET lease_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
      FROM settings, free WHERE entry.id = free.id`
    const { rowCount } = await this.#queryable.query(text, [...mine(claim), leaseMs])
    return rowCount === 1 || this.#isMine(claim)
  }

  async #isMine(claim: Claim): Promise<boolean> {
    const { rows } = await this.#queryable.query(`SELECT FROM ${this.#entries} WHERE ${MINE}`, mine(claim))
    return rows.length === 1
  }

  async complete(claim: Claim, answer: RecordedAnswer): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'true')} UPDATE ${this.#entries} ${recording('FROM settings')}`
    return (await this.#queryable.query(text, [...mine(claim), ...answerValues(answer)])).rowCount === 1
  }

  async release(claim: Claim): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'false')} DELETE FROM ${this.#entries} USING settings WHERE ${MINE}`
    return (await this.#queryable.query(text, mine(claim))).rowCount === 1
  }

  async abandon(claim: Claim): Promise<boolean> {
    const text = `WITH ${settings(ROW_PATIENCE, 'true')}
      UPDATE ${this.#entries} SET state = 'unknown' FROM settings WHERE ${MINE}`
    return (await this.#queryable.query(text, mine(claim))).rowCount === 1
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const text = `SELECT ${ENTRY_COLUMNS} FROM ${this.#entries} WHERE scope = $1 AND key = $2`
    const { rows } = await this.#queryable.query(text, [scope, key])
    const row = rows[0] as EntryRow | undefined
    return row && entryOf(row)
  }
}

/**
 * running -> done, for `UPDATE <entries> …` with the values of `mine` and `answerValues`. A runner that was taken for
 * dead may still say what it did, as long as the claim is its own.
 */
export function recording(from: string): string {
  return `SET state = 'done', completed_at = clock_timestamp(), status = $4, headers = $5, body = $6, body_omitted = $7
    ${from} WHERE scope = $1 AND key = $2 AND token = $3 AND state IN ('running', 'unknown')`
}

/** The values of `MINE`. */
export function mine({ scope, key, token }: Claim): unknown[] {
  return [scope, key, token]
}

function ownerOf(entry: Entry, { free }: { readonly free: string }): FoundEntry['owner'] {
  if (entry.state !== 'running') return 'unsure'
  if (free !== 'true') return 'held'
  // It had entered its effect, and its transaction is no more.
  return entry.inEffect ? 'gone' : 'unsure'
}

function claimOf({ scope, key, token }: EntryDraft, attempt: number): Claim {
  return { scope, key, token, attempt }
}

function draftValues(draft: EntryDraft): unknown[] {
  const { scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable } = draft
  return [scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable]
}
