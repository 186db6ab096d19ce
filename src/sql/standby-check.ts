import { StorageError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import type { PostgresPool } from './postgres-driver.ts'

const RECHECK_MS = 60_000

/** How the server commits, as texts. */
export interface Replication {
  readonly recovers: string
  /** `synchronous_standby_names`. */
  readonly standbys: string
  /** `synchronous_commit`, as the role has it. */
  readonly level: string
}

const LOOK = `SELECT pg_is_in_recovery()::text AS recovers, current_setting('synchronous_standby_names') AS standbys,
  current_setting('synchronous_commit') AS level`

/** What is wrong, and what to set; undefined where a commit is on a standby when it is confirmed. */
export function replicationFault({ recovers, standbys, level }: Replication): string | undefined {
  if (recovers === 'true') return 'is connected to a standby: the server is in recovery. Connect to the primary'
  if (level === 'off' || level === 'local') {
    return `commits without waiting for a standby: synchronous_commit is '${level}'. Set it to 'on' for this role`
  }
  if (standbys.trim() !== '') return undefined
  return (
    "has no synchronous standby: synchronous_standby_names is empty. Set it on the primary, to 'ANY 1 (*)' for instance, " +
    'and reload the configuration'
  )
}

/**
 * For `requireSynchronousStandby`. Checks on the first use, and again after a reconnection, which may have led to another
 * server; then once a minute at most, since a pool also opens connections as it grows.
 */
export class StandbyCheck {
  readonly #subject: string
  #passedAt: number | undefined
  #hasReconnected = false
  #checking: Promise<void> | undefined
  readonly #given: PostgresPool | undefined
  #pool: PostgresPool | undefined

  /** `given`: the application's pool, which hears of every new connection, also of those beside it. */
  constructor(subject: string, given?: PostgresPool) {
    this.#subject = subject
    this.#given = given
  }

  /** Rejects with a StorageError, and then checks anew for each call. */
  async ensure(pool: PostgresPool): Promise<void> {
    const isDue = this.#hasReconnected && systemClock.now() - (this.#passedAt ?? 0) >= RECHECK_MS
    if (this.#passedAt !== undefined && !isDue) return
    this.#checking ??= this.#check(pool).finally(() => {
      this.#checking = undefined
    })
    await this.#checking
  }

  stop(): void {
    this.#pool?.removeListener?.('connect', this.#onConnect)
  }

  readonly #onConnect = (): void => {
    this.#hasReconnected = true
  }

  async #check(pool: PostgresPool): Promise<void> {
    this.#passedAt = undefined
    const { rows } = await pool.query(LOOK)
    const fault = replicationFault(rows[0] as Replication)
    if (fault) throw new StorageError(`${this.#subject} ${fault}. The option \`requireSynchronousStandby\` is true`)
    this.#hasReconnected = false
    this.#passedAt = systemClock.now()
    if (this.#pool) return
    this.#pool = this.#given ?? pool
    this.#pool.on?.('connect', this.#onConnect)
  }
}
