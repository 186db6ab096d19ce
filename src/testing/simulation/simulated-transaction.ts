import type { JournalRow } from '../../client/journal/port.ts'
import type { OutboxPlan } from './plan.ts'

/** How a transaction becomes durable. */
export interface Committing {
  /** Makes the rows durable; resolves when they are. */
  readonly commit: (rows: readonly JournalRow[]) => Promise<void>
  /** Happens when the COMMIT of a pg client has come to its database, whether its process lives then or not. */
  readonly onArrival: (happen: () => void) => void
  readonly say: (what: string) => void
}

/** A transaction of a program's own on the database that has the journal. If its process dies, it is rolled back. */
export class SimulatedTransaction {
  readonly rows: JournalRow[] = []
  /** As better-sqlite3 says it. A client of pg says nothing. */
  inTransaction: boolean | undefined
  readonly #database: OutboxPlan['database']
  readonly #means: Committing

  constructor(database: OutboxPlan['database'], means: Committing) {
    this.#database = database
    this.#means = means
    this.inTransaction = database === 'sqlite' ? true : undefined
  }

  end(how: OutboxPlan['ends']): void {
    if (how === 'rollback') {
      this.#means.say('rolls its transaction back')
      this.#over()
    } else if (this.#database === 'sqlite') void this.#commit()
    else this.#means.onArrival(() => void this.#commit())
  }

  async #commit(): Promise<void> {
    await this.#means.commit(this.rows)
    this.#means.say('has its transaction committed')
    this.#over()
  }

  #over(): void {
    if (this.#database === 'sqlite') this.inTransaction = false
  }
}
