import { borrowed } from './postgres-borrow.ts'
import type { PostgresPool, PostgresQueryable, PostgresResult } from './postgres-driver.ts'
import { isConflict, postgresFailure } from './postgres-failure.ts'
import { replicated } from './synchronous-standby.ts'

const MOST_ROUNDS = 20

export interface DurablePostgres extends PostgresQueryable {
  /** As `query`, for what must survive a failover too if that is required. */
  commit(text: string, values?: unknown[]): Promise<PostgresResult>
}

/**
 * Single statements on a pool. Databases whose transactions are serializable by default refuse what happens at the same
 * moment; nothing was done then, and the statement is sent once more. Every other failure is a StorageError.
 */
export class SteadyPostgres implements DurablePostgres {
  readonly #pool: () => Promise<PostgresPool>
  readonly #subject: string
  readonly #standby: string | undefined

  /** `standby`: as for `replicated`. */
  constructor(pool: () => Promise<PostgresPool>, subject: string, standby?: string) {
    this.#pool = pool
    this.#subject = subject
    this.#standby = standby
  }

  query(text: string, values?: unknown[]): Promise<PostgresResult> {
    return this.#steadily((pool) => pool.query(text, values))
  }

  commit(text: string, values?: unknown[]): Promise<PostgresResult> {
    if (this.#standby === undefined) return this.query(text, values)
    return this.#steadily((pool) =>
      borrowed(pool, ({ client }) => replicated(client, this.#standby, () => client.query(text, values))),
    )
  }

  async #steadily(send: (pool: PostgresPool) => Promise<PostgresResult>): Promise<PostgresResult> {
    const pool = await this.#pool()
    for (let round = 1; ; round++) {
      try {
        return await send(pool)
      } catch (error) {
        if (!isConflict(error) || round === MOST_ROUNDS) throw postgresFailure(error, this.#subject)
      }
    }
  }
}
