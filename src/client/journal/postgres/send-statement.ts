import { StorageError } from '../../../errors/classes.ts'
import { systemClock } from '../../../foundation/clock.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import { borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresPool, PostgresResult } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresFailure } from '../../../sql/postgres-failure.ts'
import { replicated } from '../../../sql/synchronous-standby.ts'

/** The subject of error messages. */
export const SUBJECT = 'The journal in Postgres'

/** No batch takes longer. */
export const LIMIT_MS = 5000
/** How long an answer is waited for. Then the connection is taken for dead, and a second one is asked what became of it. */
const ANSWER_MS = 3000
/** Transactions that are refused because of others at the same moment are tried this often. */
const MOST_CONFLICTS = 20
const DOUBT_PAUSE_MS = 100

/** The statement of one batch. */
export interface Sending {
  readonly pool: PostgresPool
  readonly text: string
  readonly readsOnly: boolean
  /** As for `replicated`. */
  readonly standby: string | undefined
  readonly values: unknown[]
  /** The values with `p_again`: what it did when it was sent before counts as done now. */
  readonly valuesAgain: unknown[]
  /** Epoch milliseconds. */
  readonly giveUpAt: number
}

/**
 * One statement, which is one transaction. Rejects with a StorageError: effect `none` if nothing of it was written,
 * `unknown` if its answer was lost and could not be found out in time.
 *
 *   sent ── answered ──▶ done, or refused: nothing was written
 *     │
 *     └── no answer: committed or not? ──▶ sent again, with `p_again`, until it is answered or the time limit is reached
 */
export async function sendStatement(sending: Sending): Promise<readonly unknown[]> {
  try {
    return await withoutConflict(() => send(sending, sending.values))
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw postgresFailure(error, SUBJECT)
    const failure = sending.readsOnly ? postgresFailure(error.cause, SUBJECT) : unanswered(error.cause)
    return await askAgain(sending, failure)
  }
}

async function send({ pool, text, standby, giveUpAt }: Sending, values: unknown[]): Promise<readonly unknown[]> {
  const patienceMs = giveUpAt - systemClock.now()
  const { rows } = await borrowed(
    pool,
    ({ client }) =>
      sent(
        replicated(client, standby, () => client.query(text, values)),
        giveUpAt,
      ),
    patienceMs,
  )
  return rows
}

/** The statement was sent, and was not answered: its connection broke, or is silent. Or its commit may be on no standby. */
class LostAnswer extends Error {}

async function sent(answer: Promise<PostgresResult>, giveUpAt: number): Promise<PostgresResult> {
  const ms = Math.min(ANSWER_MS, Math.max(0, giveUpAt - systemClock.now()))
  const late = (): never => {
    throw new Error(`Query read timeout after ${ms} ms`)
  }
  try {
    return await waitAtMost(systemClock, answer, { ms, late })
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
async function askAgain(sending: Sending, failure: StorageError): Promise<readonly unknown[]> {
  while (systemClock.now() < sending.giveUpAt) {
    try {
      return await send(sending, sending.valuesAgain)
    } catch {
      await systemClock.sleep(DOUBT_PAUSE_MS)
    }
  }
  throw failure
}

function unanswered(cause: unknown): StorageError {
  const { message } = postgresFailure(cause, SUBJECT)
  return new StorageError(`${message} while it was writing: what was written may or may not be there`, {
    cause,
    effect: 'unknown',
  })
}
