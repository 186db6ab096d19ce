import type { PostgresPool, PostgresQueryable, PostgresResult } from './postgres-driver.ts'
import { isConflict, postgresFailure } from './postgres-failure.ts'

const MOST_ROUNDS = 20

/**
 * Single statements on a pool. Databases whose transactions are serializable by default refuse what happens at the same
 * moment; nothing was done then, and the statement is sent once more. Every other failure is a StorageError.
 */
export class SteadyPostgres implements PostgresQueryable {
  readonly #pool: () => Promise<PostgresPool>
  readonly #subject: string

  constructor(pool: () => Promise<PostgresPool>, subject: string) {
    this.#pool = pool
    this.#subject = subject
  }

  async query(text: string, values?: unknown[]): Promise<PostgresResult> {
    const pool = await this.#pool()
    for (let round = 1; ; round++) {
      try {
        return await pool.query(text, values)
      } catch (error) {
        if (!isConflict(error) || round === MOST_ROUNDS) throw postgresFailure(error, this.#subject)
      }
    }
  }
}
