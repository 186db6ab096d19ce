import { StorageError } from '../errors/classes.ts'
import type { PostgresClient, PostgresPool } from './postgres-driver.ts'
import { NO_STANDBY_CODE } from './postgres-failure.ts'
import { literal } from './postgres-text.ts'

/*
 * For `requireSynchronousStandby`. The server's settings may change while a connection stays open, so that each transaction
 * that has to survive a failover asks for itself:
 *
 *     insist ──▶ write ──▶ COMMIT ──▶ insist again
 *       │                    │           └─ fails: the setting was emptied, which lets go of every commit that waited
 *       │                    └─ a notice: the wait was cancelled
 *       └─ fails: nothing was written
 *
 * After the COMMIT either means that the transaction is committed here, and perhaps nowhere else.
 */

const NO_STANDBY =
  "has no synchronous standby: synchronous_standby_names is empty. Set it on the primary, to 'ANY 1 (*)' for instance, " +
  'and reload the configuration'

/** How the server commits, as texts. */
export interface Replication {
  readonly recovers: string
  /** `synchronous_standby_names`. */
  readonly standbys: string
  /** `synchronous_commit`, as the role has it. */
  readonly level: string
}

const LOOK = `SELECT pg_catalog.pg_is_in_recovery()::text AS recovers,
  pg_catalog.current_setting('synchronous_standby_names') AS standbys,
  pg_catalog.current_setting('synchronous_commit') AS level`

/** What is wrong, and what to set; undefined where a commit is on a standby when it is confirmed. */
export function replicationFault({ recovers, standbys, level }: Replication): string | undefined {
  if (recovers === 'true') return 'is connected to a standby: the server is in recovery. Connect to the primary'
  if (level === 'off' || level === 'local') return lowLevel(level)
  return standbys.trim() === '' ? NO_STANDBY : undefined
}

function lowLevel(level: string): string {
  return `commits without waiting for a standby: synchronous_commit is '${level}'. Set it to 'on' for this role`
}

/** Once, as a component opens: what is wrong is said before any work. Rejects with a StorageError. */
export async function checkStandby(pool: PostgresPool, subject: string): Promise<void> {
  const { rows } = await pool.query(LOOK)
  const fault = replicationFault(rows[0] as Replication)
  if (fault) throw new StorageError(`${subject} ${fault}. The option \`requireSynchronousStandby\` is true`)
}

/**
 * Statements of a function in PL/pgSQL that has a variable `setting`. A role that hears errors only would not hear that
 * a wait was cancelled. `levels`: at which of them a commit of this transaction would not wait.
 */
export function insistOnStandby(levels: readonly ('off' | 'local')[]): string {
  const low = levels.map(
    (level) => `
  IF current_setting('synchronous_commit') = '${level}' THEN
    RAISE EXCEPTION USING ERRCODE = '${NO_STANDBY_CODE}', MESSAGE = ${literal(lowLevel(level))};
  END IF;`,
  )
  return `${low.join('')}
  IF btrim(current_setting('synchronous_standby_names')) = '' THEN
    RAISE EXCEPTION USING ERRCODE = '${NO_STANDBY_CODE}', MESSAGE = ${literal(NO_STANDBY)};
  END IF;
  IF current_setting('client_min_messages') IN ('error', 'fatal', 'panic') THEN
    setting := set_config('client_min_messages', 'warning', true);
  END IF;`
}

/** A part of the log that waits for a standby as every commit does: with it, all that was committed before is there. */
export const REPLICATE = `pg_catalog.pg_logical_emit_message(true, 'holdfast', '')`

/** Committed here, and perhaps nowhere else. */
export class UnreplicatedError extends Error {
  constructor(cause?: unknown) {
    super('The transaction was committed without a synchronous standby', { cause })
  }
}

/**
 * Sends what commits. Rejects with an UnreplicatedError where the commit did not wait for a standby to the end. `standby`: a
 * call in SQL that fails unless commits have to wait; undefined: nothing is required.
 */
export async function replicated<T>(
  client: PostgresClient,
  standby: string | undefined,
  send: () => Promise<T>,
): Promise<T> {
  if (standby === undefined) return send()
  const waits = new CancelledWaits(client)
  try {
    const sent = await send()
    if (waits.isCancelled) throw new UnreplicatedError()
    await client.query(`SELECT ${standby}`).catch((cause: unknown) => {
      throw new UnreplicatedError(cause)
    })
    return sent
  } finally {
    waits.stop()
  }
}

/** As pg tells it. The message is in the language of the server, these are not. */
interface Notice {
  readonly file?: string
}

/** Clients of other make may tell nothing. */
interface NoticeEmitter {
  on?(event: 'notice', listener: (notice: Notice) => void): unknown
  removeListener?(event: 'notice', listener: (notice: Notice) => void): unknown
}

class CancelledWaits {
  readonly #client: NoticeEmitter
  isCancelled = false

  constructor(client: object) {
    this.#client = client
    this.#client.on?.('notice', this.#hear)
  }

  readonly #hear = ({ file }: Notice): void => {
    if (file === 'syncrep.c') this.isCancelled = true
  }

  stop(): void {
    this.#client.removeListener?.('notice', this.#hear)
  }
}
