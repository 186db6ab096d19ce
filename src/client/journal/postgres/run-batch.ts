import { StorageError } from '../../../errors/classes.ts'
import { systemClock } from '../../../foundation/clock.ts'
import type { PostgresPool } from '../../../sql/postgres-driver.ts'
import { isHeldError, postgresCode } from '../../../sql/postgres-failure.ts'
import { type JournalCommand, type JournalResult, READS } from '../port.ts'
import { apart, grouped } from './batch-groups.ts'
import { decodeEach, type EachLine, type EachResult, NotDone } from './each-result.ts'
import { type BatchLine, decodeAnswers, encodeBatch, whole } from './journal-batch.ts'
import type { JournalTables } from './journal-tables.ts'
import { LIMIT_MS, type Sending, SUBJECT, sendStatement } from './send-statement.ts'

/**
 * How long a batch waits for a row, an id or a lane that another transaction holds: as long as another batch may take. An
 * outbox transaction may be open for much longer, and must not hold up the commands that share the batch.
 */
const ROW_PATIENCE = '100ms'
/** The same for the first one of a batch whose commands run each on its own. */
const EACH_PATIENCE = '20ms'
const HELD_PAUSE_MS = 100
/** A try with less time than this could end without an answer, and so without knowing what became of it. */
const LAST_TRY_MS = 1500

export interface Batch {
  readonly commands: readonly JournalCommand[]
  /** The caller's clock; undefined: times are taken as the database's. */
  readonly now: number | undefined
}

/**
 * One batch as one statement, which is one transaction: all of it or nothing. While another transaction holds a row of it,
 * it is sent again, until its time limit: it holds no connection while it waits. Rejects with a StorageError.
 */
export async function runBatch(pool: PostgresPool, tables: JournalTables, batch: Batch): Promise<JournalResult[]> {
  const sending = sendingOf(pool, tables, batch)
  for (;;) {
    try {
      return decodeAnswers(batch.commands, (await sendStatement(sending)) as BatchLine[])
    } catch (error) {
      const isHeld = error instanceof StorageError && isHeldError(error.cause)
      if (!isHeld || systemClock.now() + LAST_TRY_MS >= sending.giveUpAt) throw error
      await systemClock.sleep(HELD_PAUSE_MS)
    }
  }
}

/**
 * Commands of different callers as one transaction. One that fails, or whose row another transaction holds, is left out,
 * and the others are done. Rejects with a StorageError if the database itself is at fault.
 *
 *   all in groups ── done ──▶ results
 *     └── one is at fault: nothing was done ──▶ again, each on its own ──▶ results, and what was left out
 *           └── one can't even be read by the server, and nothing was done ──▶ again, in two halves
 */
export async function runShared(pool: PostgresPool, tables: JournalTables, batch: Batch): Promise<EachResult[]> {
  const { commands } = batch
  const grouped = await orFault(async () => sendStatement(sendingOf(pool, tables, batch)))
  if (!(grouped instanceof NotDone)) return decodeAnswers(commands, grouped as BatchLine[])
  if (commands.length === 1) return [grouped]
  const each = await orFault(async () => sendStatement(sendingEach(pool, tables, batch)))
  if (!(each instanceof NotDone)) return decodeEach(commands, each as EachLine[], SUBJECT)
  const middle = commands.length >> 1
  const first = await runShared(pool, tables, { ...batch, commands: commands.slice(0, middle) })
  return [...first, ...(await runShared(pool, tables, { ...batch, commands: commands.slice(middle) }))]
}

/** What is sent or, if one of its commands is at fault, why nothing of it was done. */
async function orFault(send: () => Promise<readonly unknown[]>): Promise<readonly unknown[] | NotDone> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof StorageError && isOneCommandsFault(error)) return new NotDone(error)
    throw error
  }
}

/**
 * A lock that another transaction holds, or a value that the table does not take; without a cause, one that was refused
 * before it was sent. Everything else fails for all.
 */
function isOneCommandsFault({ cause }: StorageError): boolean {
  return cause === undefined || isHeldError(cause) || /^(22|23|54)/.test(postgresCode(cause))
}

function sendingOf(pool: PostgresPool, tables: JournalTables, batch: Batch): Sending {
  const text = `SELECT at, answer, bytes, response_bytes FROM ${tables.runBatch}($1, $2, $3, $4, $5)`
  return { pool, text, ...valuesOf(tables, batch, { patience: ROW_PATIENCE, grouping: grouped }) }
}

function sendingEach(pool: PostgresPool, tables: JournalTables, batch: Batch): Sending {
  const text = `SELECT at, answer, bytes, response_bytes, failure FROM ${tables.runEach}($1, $2, $3, $4, $5)`
  return { pool, text, ...valuesOf(tables, batch, { patience: EACH_PATIENCE, grouping: apart }) }
}

interface Sharing {
  readonly patience: string
  readonly grouping: typeof grouped
}

function valuesOf(
  tables: JournalTables,
  { commands, now }: Batch,
  { patience, grouping }: Sharing,
): Omit<Sending, 'pool' | 'text'> {
  const readsOnly = commands.every((command) => READS.has(command.do))
  const insists = tables.requiresStandby && !readsOnly
  const { commands: encoded, bodies } = encodeBatch(commands, { grouping, insists })
  const clock = now === undefined ? null : whole(now)
  return {
    readsOnly,
    standby: insists ? standbyCall(tables) : undefined,
    values: [clock, false, patience, encoded, bodies],
    valuesAgain: [clock, true, patience, encoded, bodies],
    giveUpAt: systemClock.now() + LIMIT_MS,
  }
}

/** For `replicated`. */
function standbyCall({ runBatch: name }: JournalTables): string {
  return `count(*) FROM ${name}(NULL, false, NULL, '[{"do":"insist"}]'::jsonb, '{}'::bytea[])`
}
