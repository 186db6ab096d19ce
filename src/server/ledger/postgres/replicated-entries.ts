import type { DurablePostgres } from '../../../sql/postgres-steady.ts'
import { REPLICATE } from '../../../sql/synchronous-standby.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { Claim } from '../port.ts'
import type { ClaimStatements } from './claim-statements.ts'

const LEVEL = `CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END`

/**
 * For `requireSynchronousStandby`. An answer that is found may be committed on this server only: its commit was in doubt, because
 * the wait for the standby was cancelled. It is given once a commit after it is on a standby, and it with that.
 */
export class ReplicatedEntries {
  readonly #statements: ClaimStatements
  readonly #own: DurablePostgres
  readonly #standby: string | undefined

  constructor(statements: ClaimStatements, own: DurablePostgres, standby: string | undefined) {
    this.#statements = statements
    this.#own = own
    this.#standby = standby
  }

  /** Rejects with a StorageError where the answer of the entry is not known to be on a standby. */
  async confirm(entry: Entry | undefined): Promise<void> {
    if (entry?.state !== 'done' || this.#standby === undefined) return
    await this.#own.commit(`SELECT set_config('synchronous_commit', ${LEVEL}, true), ${REPLICATE}, ${this.#standby}`)
  }

  /** To see what became of a commit: the answer that was recorded under this token, if any. */
  async answerOf({ scope, key, token }: Pick<Claim, 'scope' | 'key' | 'token'>): Promise<RecordedAnswer | undefined> {
    const entry = await this.#statements.find(scope, key)
    if (entry?.token !== token || entry.state !== 'done') return undefined
    await this.confirm(entry)
    return entry.answer ?? undefined
  }
}
