import { StorageError } from '../../../errors/classes.ts'
import { systemClock } from '../../../foundation/clock.ts'
import { borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresPool } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresFailure } from '../../../sql/postgres-failure.ts'
import { type JournalCommand, type JournalResult, READS } from '../port.ts'
import { type BatchLine, decodeAnswers, encodeBatch, whole } from './journal-batch.ts'
import type { JournalTables } from './journal-tables.ts'

/** The subject of error messages. */
export const SUBJECT = 'The journal in Postgres'

/** How long a command waits for a row that another transaction holds, an outbox transaction that is still open say. */
const ROW_PATIENCE = '3s'
/** Transactions that are refused because of others at the same moment are tried this often. */
const MOST_CONFLICTS = 20
/** How long a batch whose answer was lost is asked about: about as long as a database takes to restart. */
const DOUBT_MS = 5000
const DOUBT_PAUSE_MS = 100

export interface Batch {
  readonly commands: readonly JournalCommand[]
  /** The caller's clock; undefined: times are taken as the database's. */
  readonly now: number | undefined
}

/**
 * One batch as one statement, which is one transaction. Rejects with a StorageError: effect `none` where nothing of it
 * was written, `unknown` where its answer was lost and could not be found out.
 *
 *   sent ── answered ──▶ done, or refused: nothing was written
 *     │
 *     └── no answer: committed or not? ──▶ sent again, with `p_again`, until it is answered or DOUBT_MS have passed
 */
export async function runBatch(pool: PostgresPool, tables: JournalTables, { commands, now }: Batch) {
  const { commands: encoded, bodies } = encodeBatch(commands)
  const text = `SELECT at, answer, bytes, response_bytes FROM ${tables.runBatch}($1, $2, $3, $4, $5)`
  const clock = now === undefined ? null : whole(now)
  const send = async (again: boolean): Promise<JournalResult[]> => {
    const values = [clock, again, ROW_PATIENCE, encoded, bodies]
    const { rows } = await borrowed(pool, ({ client }) => sent(client.query(text, values)))
    return decodeAnswers(commands, rows as BatchLine[])
  }
  try {
    return await withoutConflict(() => send(false))
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw postgresFailure(error, SUBJECT)
    const readsOnly = commands.every((command) => READS.has(command.do))
    const failure = readsOnly ? postgresFailure(error.cause, SUBJECT) : unanswered(error.cause)
    return await askAgain(() => send(true), failure)
  }
}

/** The statement was sent, and its connection broke before it was answered. */
class LostAnswer extends Error {}

async function sent<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    throw isAnswered(cause) ? cause : new LostAnswer('No answer', { cause })
  }
}

/** Again where it was refused because of other transactions at the same moment. */
export async function withoutConflict<T>(send: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await send()
    } catch (error) {
      if (!isConflict(error) || round === MOST_CONFLICTS) throw error
    }
  }
}

/** A transaction that still runs on the broken connection holds its rows: this one waits for it, and sees how it ended. */
async function askAgain<T>(send: () => Promise<T>, failure: StorageError): Promise<T> {
  const giveUpAt = systemClock.now() + DOUBT_MS
  for (;;) {
    try {
      return await send()
    } catch {
      if (systemClock.now() >= giveUpAt) throw failure
      await systemClock.sleep(DOUBT_PAUSE_MS)
    }
  }
}

function unanswered(cause: unknown): StorageError {
  const { message } = postgresFailure(cause, SUBJECT)
  return new StorageError(`${message} while it was writing: what was written may or may not be there`, {
    cause,
    effect: 'unknown',
  })
}
