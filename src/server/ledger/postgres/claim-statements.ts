import { StorageError } from '../../../errors/classes.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import type { DurablePostgres } from '../../../sql/postgres-steady.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { ENTRY_VERSION, type Entry, type RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, EntryDraft, FoundEntry, Insertion } from '../port.ts'
import type { LeaseClock } from './lease-clock.ts'
import { ENTRY_COLUMNS, inMs, ROW_PATIENCE } from './ledger-functions.ts'
import {
  answerValues,
  type LedgerTables,
  type PostgresEntryRow,
  postgresEntry,
  standbyColumn,
} from './ledger-tables.ts'

/** An uncommitted claim may be rolled back between two statements, but hardly this often. */
const MOST_ROUNDS = 20

/** The row of the claim with this fencing token. */
const FENCED = `scope = $1 AND key = $2 AND token = $3 AND state = 'running'`

/** From running to unknown. */
export const ABANDON = `state = 'unknown', external_until = NULL, unknown_since = clock_timestamp()`

/** For one statement, in the same round trip. A change that is not `durable` is flushed by the next one that is. */
function settings(durable: 'durable' | 'not durable' | '$10::boolean'): string {
  const isDurable = { durable: 'true', 'not durable': 'false', '$10::boolean': '$10::boolean' }[durable]
  return `settings AS MATERIALIZED (SELECT set_config('lock_timeout', '${ROW_PATIENCE}', true),
    set_config('synchronous_commit', CASE WHEN NOT ${isDurable} THEN 'off'
      WHEN current_setting('synchronous_commit') = 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true))`
}

/** The connections of the application, and those of the ledger. */
export interface Connections {
  readonly shared: DurablePostgres
  readonly own: DurablePostgres
}

/** The statements on one entry, each in a transaction of its own. */
export class ClaimStatements {
  readonly #entries: string
  readonly #functions: string
  /** Fails where a standby is required and none has to confirm. */
  readonly #standby: string
  readonly #shared: DurablePostgres
  readonly #own: DurablePostgres
  readonly #clock: LeaseClock

  /**
   * A claim is made over the connections of the application, as its work is. What keeps or ends a claim goes over our
   * own: it must not wait for the application, which may itself wait for it.
   */
  constructor(tables: LedgerTables, { shared, own }: Connections, clock: LeaseClock) {
    this.#clock = clock
    this.#entries = tables.entries
    this.#functions = tables.functions
    this.#standby = standbyColumn(tables)
    this.#shared = shared
    this.#own = own
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const found = await this.#claimOrLook(draft)
      if (found === 'claimed') return { kind: 'inserted', claim: claimOf(draft, 1) }
      if (found) return { kind: 'found', found }
    }
    throw new StorageError(`The ledger in Postgres found a key taken and free again, ${MOST_ROUNDS} times in a row`)
  }

  async #claimOrLook(draft: EntryDraft): Promise<FoundEntry | 'claimed' | undefined> {
    try {
      const { rows } = await this.#shared[draft.durable ? 'commit' : 'query'](this.#claimText(draft))
      const { seen, now } = rows[0] as SeenRow & { readonly now: string }
      this.#clock.observe(Number(now), draft.leaseMs)
      return seen === null ? 'claimed' : foundEntry(seen, this.#clock)
    } catch (error) {
      // Another transaction holds the row: the key is taken.
      if (postgresCode((error as Error).cause) === '55P03') return this.look(draft.scope, draft.key)
      throw error
    }
  }

  /** Without parameters, which take five messages of the protocol in place of one. */
  #claimText(draft: EntryDraft): string {
    const { scope, key, fingerprint, method, path, token, external, durable, leaseMs, retentionMs } = draft
    const texts = [scope, key, fingerprint, method, path, token].map(literal)
    const values = [...texts, external === true, Number(leaseMs), Number(retentionMs), durable === true]
    return `SELECT ${this.#functions}_claim_v1(${values.join(', ')}) AS seen, ${NOW_COLUMN}${this.#standby}`
  }

  async look(scope: string, key: string): Promise<FoundEntry | undefined> {
    const text = `SELECT ${this.#functions}_look_v1($1, $2) AS seen`
    const { seen } = (await this.#own.query(text, [scope, key])).rows[0] as SeenRow
    return seen === null ? undefined : foundEntry(seen, this.#clock)
  }

  /** Only while the entry is as it was seen: a claim that was renewed or has begun its effect since is alive. */
  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const text = `WITH ${settings('$10::boolean')}, free AS MATERIALIZED (
        SELECT id FROM ${this.#entries} WHERE scope = $1 AND key = $2 AND token = $11 AND state = $12
          AND in_effect = $13::boolean AND ${inMs('lease_until')} = $14
          AND (state <> 'done' OR expires_at <= clock_timestamp()) FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE ${this.#entries} AS entry SET fingerprint = $3, method = $4, path = $5, token = $6, external = $7::boolean,
        state = 'running', attempt = CASE entry.state WHEN 'done' THEN 1 ELSE entry.attempt + 1 END, in_effect = false,
        created_at = coalesce('epoch'::timestamptz + $15::float8 * interval '1 millisecond', now),
        lease_until = now + $8::float8 * interval '1 millisecond',
        expires_at = now + $9::float8 * interval '1 millisecond', completed_at = NULL, status = NULL, headers = NULL,
        body = NULL, body_omitted = false, version = ${ENTRY_VERSION},
        unknown_since = NULL, external_until = CASE WHEN $7::boolean THEN now + $8::float8 * interval '1 millisecond' END
      FROM settings, free, (SELECT clock_timestamp() AS now) clock
      WHERE entry.id = free.id RETURNING entry.attempt::text AS attempt${this.#standby}`
    const seen = [found.token, found.state, found.inEffect, String(found.leaseUntil), draft.createdAt ?? null]
    const { rows } = await this.#shared[draft.durable ? 'commit' : 'query'](text, [...draftValues(draft), ...seen])
    const row = rows[0] as { readonly attempt: string } | undefined
    return row && claimOf(draft, Number(row.attempt))
  }

  /** A row that is locked is locked by the claim's own effect, which needs no lease. */
  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    const text = `WITH ${settings('not durable')}, free AS MATERIALIZED (
        SELECT id, lease_until FROM ${this.#entries} WHERE ${FENCED} FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE ${this.#entries} AS entry SET lease_until = until, external_until = CASE WHEN entry.external THEN until END
      FROM settings, (SELECT id, greatest(lease_until, clock_timestamp() + $4::float8 * interval '1 millisecond') AS until
        FROM free) AS free
      WHERE entry.id = free.id`
    const { rowCount } = await this.#own.query(text, [...fenceValues(claim), leaseMs])
    return rowCount === 1 || this.#isCurrent(claim)
  }

  /**
   * After an effect whose connection has ended. Waits for the lock, which ends a moment later than the connection: while
   * the row was locked, its lease was not renewed. Without `leaseMs`: the lease that the claim has.
   */
  async keep(claim: Claim, leaseMs: number | undefined): Promise<boolean> {
    const until = `coalesce(clock_timestamp() + $4::float8 * interval '1 millisecond', lease_until)`
    const text = `WITH ${settings('not durable')} UPDATE ${this.#entries} SET in_effect = false, lease_until = ${until},
        external_until = CASE WHEN external THEN ${until} END
      FROM settings WHERE ${FENCED}`
    return (await this.#own.query(text, [...fenceValues(claim), leaseMs ?? null])).rowCount === 1
  }

  async #isCurrent(claim: Claim): Promise<boolean> {
    const { rows } = await this.#own.query(`SELECT FROM ${this.#entries} WHERE ${FENCED}`, fenceValues(claim))
    return rows.length === 1
  }

  async complete(claim: Claim, answer: RecordedAnswer): Promise<boolean> {
    const text = `SELECT ${this.#functions}_record_v2($1, $2, $3, $4::smallint, $5, $6, $7, NULL)::text AS recorded${this.#standby}`
    const { rows } = await this.#own.commit(text, [...fenceValues(claim), ...answerValues(answer)])
    return (rows[0] as { readonly recorded: string }).recorded === 'true'
  }

  async release(claim: Claim): Promise<boolean> {
    const text = `WITH ${settings('not durable')} DELETE FROM ${this.#entries} USING settings WHERE ${FENCED}`
    return (await this.#own.query(text, fenceValues(claim))).rowCount === 1
  }

  async abandon(claim: Claim, since?: number): Promise<boolean> {
    const text = `WITH ${settings('durable')}
      UPDATE ${this.#entries} SET state = 'unknown', external_until = NULL, unknown_since =
        coalesce('epoch'::timestamptz + $4::float8 * interval '1 millisecond', clock_timestamp())
      FROM settings WHERE ${FENCED} RETURNING true${this.#standby}`
    return (await this.#own.commit(text, [...fenceValues(claim), since ?? null])).rowCount === 1
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const text = `SELECT ${ENTRY_COLUMNS} FROM ${this.#entries} WHERE scope = $1 AND key = $2`
    const { rows } = await this.#own.query(text, [scope, key])
    const row = rows[0] as PostgresEntryRow | undefined
    return row && postgresEntry(row)
  }
}

/** The JSON of an entry that is there. */
export interface SeenRow {
  readonly seen: string | null
}

interface FoundRow extends Omit<PostgresEntryRow, 'body'> {
  readonly body: string | null
  readonly free: string
  readonly now: string
}

/** A column for `LeaseClock`. */
export const NOW_COLUMN = `${inMs('clock_timestamp()')} AS now`

export function foundEntry(seen: string, clock: LeaseClock): FoundEntry {
  const row = JSON.parse(seen) as FoundRow
  const now = Number(row.now)
  clock.observe(now)
  const body = row.body === null ? null : Buffer.from(row.body, 'base64')
  const entry = postgresEntry({ ...row, body })
  return { entry, now: now - clock.jumpedMs, owner: ownerByLock(entry, row) }
}

/** The parameters of `FENCED`. */
function fenceValues({ scope, key, token }: Claim): unknown[] {
  return [scope, key, token]
}

/** A row that is not locked says nothing: its handler may be about to lock it, or its transaction was rolled back. */
function ownerByLock(entry: Entry, { free }: { readonly free: string }): FoundEntry['owner'] {
  return entry.state === 'running' && free !== 'true' ? 'alive' : 'unsure'
}

function claimOf({ scope, key, token }: EntryDraft, attempt: number): Claim {
  return { scope, key, token, attempt }
}

function draftValues(draft: EntryDraft): unknown[] {
  const { scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable } = draft
  return [scope, key, fingerprint, method, path, token, external, leaseMs, retentionMs, durable]
}
