import { StorageError } from '../../../errors/classes.ts'
import { type Borrowed, borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresClient, PostgresPool } from '../../../sql/postgres-driver.ts'
import { isConflict } from '../../../sql/postgres-failure.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { runStatements } from '../../../sql/statement-runner.ts'
import type { Consumed, Consumption, MessageDraft, StatementRunner } from '../port.ts'
import { afterSavepoint, givenClient, RELEASE, rollBackToSavepoint } from './given-transaction.ts'
import { failureOf, type LedgerTables, SUBJECT } from './ledger-tables.ts'
import {
  beginAt,
  explainIdle,
  LOCKED_COLUMN,
  type Locked,
  lockedColumns,
  lockedIn,
  takeRole,
} from './transaction-statements.ts'

interface Consuming {
  readonly message: MessageDraft
  readonly consumption: Consumption<PostgresClient>
}

/** An error of the work, in contrast to one of the store. */
class WorkError {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

const MOST_ROUNDS = 20

/** In a transaction of ours. A conflict before the work has begun is tried again. */
export async function consumeOwn(pool: PostgresPool, tables: LedgerTables, consuming: Consuming): Promise<Consumed> {
  let begun = false
  const work: Consuming['consumption']['work'] = (tx) => {
    begun = true
    return consuming.consumption.work(tx)
  }
  const consumption = { work, options: consuming.consumption.options }
  for (let round = 1; ; round++) {
    try {
      const consumed = await borrowed(pool, (client) => consumeOn(client, tables, { ...consuming, consumption }))
      if (consumed instanceof WorkError) throw consumed
      return consumed
    } catch (error) {
      if (!begun && isConflict(error) && round < MOST_ROUNDS) continue
      throw error instanceof WorkError ? error.error : failureOf(error)
    }
  }
}

async function consumeOn(
  { client, spoil, lost }: Borrowed,
  tables: LedgerTables,
  { message, consumption }: Consuming,
): Promise<Consumed | WorkError> {
  await client.query(beginAt(consumption.options))
  try {
    const columns = lockedColumns(tables, message.leaseMs)
    const consumed = await consumeWithin(client, tables, { message, columns, work: () => consumption.work(client) })
    const { command } = await client.query('COMMIT')
    if (command !== 'COMMIT')
      throw new StorageError(`${SUBJECT} rolled the transaction back: a statement in it had failed`)
    return consumed
  } catch (error) {
    await client.query('ROLLBACK').catch(spoil)
    if (error instanceof WorkError) return new WorkError(explainIdle(error.error, lost(), message.leaseMs))
    throw explainIdle(error, lost(), message.leaseMs)
  }
}

/** In a transaction that the caller has begun and will end. */
export async function consumeGiven<Tx>(
  tables: LedgerTables,
  message: MessageDraft,
  { work, options }: Consumption<Tx>,
): Promise<Consumed> {
  const client = givenClient(options)
  try {
    await afterSavepoint(client)
    const own = { message, columns: LOCKED_COLUMN, work: () => work(options.transaction as Tx) }
    const consumed = await consumeWithin(client, tables, own)
    await client.query(RELEASE)
    return consumed
  } catch (error) {
    await rollBackToSavepoint(client).catch(() => {})
    throw error instanceof WorkError ? error.error : failureOf(error)
  }
}

interface MarkedWork {
  readonly message: MessageDraft
  /** What the insert returns. */
  readonly columns: string
  readonly work: () => string | null | Promise<string | null>
}

/**
 * Inserts the id and does the work. A duplicate waits at the insert until the first transaction has ended; then it is a
 * duplicate, or does the work itself.
 */
async function consumeWithin(client: StatementRunner, tables: LedgerTables, marked: MarkedWork): Promise<Consumed> {
  const { message, work } = marked
  const locked = await insertId(client, tables, marked)
  const where = `scope = ${literal(message.scope)} AND id = ${literal(message.id)}`
  if (!locked) {
    const { rows } = await client.query(`SELECT value FROM ${tables.messages} WHERE ${where}`)
    return { duplicate: true, value: (rows[0] as { value: string | null } | undefined)?.value ?? null }
  }
  const value = await runWork(work)
  if (value !== null) {
    const store = `UPDATE ${tables.messages} SET value = ${literal(value)} WHERE ${where}`
    await runStatements(client, [takeRole(locked), store])
  }
  return { duplicate: false, value }
}

async function runWork(work: MarkedWork['work']): Promise<string | null> {
  try {
    return await work()
  } catch (error) {
    throw new WorkError(error)
  }
}

/** Undefined where the id is there already, and not past its retention. */
async function insertId(
  client: StatementRunner,
  tables: LedgerTables,
  { message, columns }: MarkedWork,
): Promise<Locked | undefined> {
  const text = `INSERT INTO ${tables.messages} AS message (scope, id, expires_at)
    VALUES (${literal(message.scope)}, ${literal(message.id)},
      clock_timestamp() + ${Number(message.retentionMs)} * interval '1 millisecond')
    ON CONFLICT (scope, id) DO UPDATE SET expires_at = excluded.expires_at, value = NULL
    WHERE message.expires_at <= clock_timestamp() RETURNING ${columns}`
  const { rows } = await client.query(text)
  return lockedIn(rows[0])
}
