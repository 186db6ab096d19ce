import { StorageError } from '../../../errors/classes.ts'
import { HoldfastError } from '../../../errors/holdfast-error.ts'
import { type Borrowed, borrowed } from '../../../sql/postgres-borrow.ts'
import {
  type PostgresClient,
  type PostgresPool,
  type PostgresQueryable,
  queryAll,
} from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresCode } from '../../../sql/postgres-failure.ts'
import { type PipelinedStatement, queryTogether } from '../../../sql/postgres-pipeline.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { runWithValues } from '../../../sql/statement-runner.ts'
import { replicated } from '../../../sql/synchronous-standby.ts'
import { type Consumed, consumedByHolder } from '../../entry/consumed.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { Consumption, MessageDraft, StatementRunner } from '../port.ts'
import { afterSavepoint, givenClient, RELEASE, rollBackToSavepoint } from './given-transaction.ts'
import { failureOf, type LedgerTables, SUBJECT, standbyStatements } from './ledger-tables.ts'
import { MessageWatch, type WatchedMessages } from './message-watch.ts'
import { HELD } from './second-functions.ts'
import {
  beginAt,
  explainLoss,
  explainWork,
  IDLE_COLUMN,
  idleLimitMs,
  insistStatement,
  inTime,
  isEndedCode,
  isFailedTransaction,
  type Locked,
  lockedIn,
  statusText,
  takeRole,
} from './transaction-statements.ts'

interface Consuming {
  readonly message: MessageDraft
  readonly consumption: Consumption<PostgresClient>
  readonly watched: WatchedMessages
}

/** An error of the work, in contrast to one of the store. */
class WorkError {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

const MOST_ROUNDS = 20
/** A duplicate that finds its message in flight comes back after a pause, which doubles from the one to the other. */
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 500
/** How long an insert waits for a transaction that is about to commit the same id: the first one, and those that look again. */
const COMMIT_PATIENCE = '50ms'
const LOOK_PATIENCE = '1ms'

/** Another transaction has inserted the id, and is open. */
const IN_FLIGHT = Symbol('in flight')

/**
 * In a transaction of ours. A conflict before the work has begun is tried again; a duplicate of a message in flight waits
 * without a connection.
 */
export async function consumeOwn(pool: PostgresPool, tables: LedgerTables, consuming: Consuming): Promise<Consumed> {
  let begun = false
  let [rounds, pauseMs, patience] = [1, SHORTEST_PAUSE_MS, COMMIT_PATIENCE]
  const work: Consuming['consumption']['work'] = (tx) => {
    begun = true
    return consuming.consumption.work(tx)
  }
  const consumption = { work, options: consuming.consumption.options }
  const watch = new MessageWatch(consuming.watched, consuming.message)
  try {
    for (;;) {
      try {
        const once = { message: consuming.message, consumption, patience }
        const consumed = await borrowed(pool, (client) => consumeOn(client, tables, once))
        if (consumed instanceof WorkError) throw consumed
        if (consumed !== IN_FLIGHT) return consumed
      } catch (error) {
        if (!begun && isConflict(error) && rounds++ < MOST_ROUNDS) continue
        throw error instanceof WorkError ? error.error : failureOf(error)
      }
      await watch.wait(pauseMs)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      patience = LOOK_PATIENCE
    }
  } finally {
    watch.end()
  }
}

type Once = Pick<Consuming, 'message' | 'consumption'> & { readonly patience: string }

async function consumeOn(
  { client, spoil, lost, whileConnected }: Borrowed,
  tables: LedgerTables,
  { message, consumption, patience }: Once,
): Promise<Consumed | WorkError | typeof IN_FLIGHT> {
  let locked: Locked | undefined
  try {
    const begun = await beginOwn(client, tables, { message, options: consumption.options, patience })
    locked = begun === HELD ? undefined : begun
    const work = (): Promise<string | null> => whileConnected(consumption.work(client))
    const value = locked ? await runWork(work) : await inTime(recordedValue(client, tables, message))
    const end = locked ? endStatements(tables, message, { locked, value }) : []
    // Of a duplicate too: the first delivery may be committed here, and nowhere else. The insert has locked its row, and waits.
    const statements = [...end, ...standbyStatements(tables), { text: 'COMMIT' }]
    const results = await inTime(replicated(client, tables.standby, () => queryTogether(client, statements)))
    if (results.at(-1)?.command === 'COMMIT')
      return begun === HELD ? consumedByHolder(HELD) : { duplicate: !locked, value }
    throw new StorageError(`${SUBJECT} rolled the transaction back: a statement in it had failed`)
  } catch (error) {
    const isOver = !(error instanceof WorkError || isAnswered(error))
    // Without an answer the connection is of no use any more.
    const ended = isOver ? spoil() : await rollBack(client, tables, { locked, error }).catch(spoil)
    if (!locked && postgresCode(error) === '55P03') return IN_FLIGHT
    const cause = error instanceof WorkError ? error.error : explainWork(error)
    if (ended) return new WorkError(new EndedTransactionError(cause))
    const explained = explainLoss(cause, { lost: lost(), locked, leaseMs: message.leaseMs })
    if (error instanceof WorkError || explained instanceof HoldfastError) return new WorkError(explained)
    throw explained
  }
}

interface BeginOptions {
  readonly message: MessageDraft
  readonly options: Consumption<PostgresClient>['options']
  readonly patience: string
}

/** Undefined: the id is there already, and not past its retention. */
type Begun = Locked | typeof HELD | undefined

async function beginOwn(
  client: PostgresClient,
  tables: LedgerTables,
  { message, options, patience }: BeginOptions,
): Promise<Begun> {
  const insert = insertText(tables, message, patience)
  return begunBy((await inTime(queryAll(client, `${beginAt(options)}; ${insert}`))).at(-1)?.rows[0])
}

function begunBy(row: unknown): Begun {
  return (row as { readonly locked: string | null } | undefined)?.locked === HELD ? HELD : lockedIn(row)
}

interface Failed {
  readonly locked: Locked | undefined
  readonly error: unknown
}

/** True if the work had ended the transaction by itself. A COMMIT of ours that has failed ends it too, and says nothing of the work. */
async function rollBack(client: PostgresClient, tables: LedgerTables, { locked, error }: Failed): Promise<boolean> {
  const isOfWork = error instanceof WorkError || isFailedTransaction(error)
  try {
    if (locked && isOfWork) await inTime(client.query(insistStatement(tables, locked)))
    return false
  } catch (cause) {
    if (!locked || !isFailedTransaction(cause)) return isEndedCode(cause)
    // In a transaction that has failed no function can be called: was it ours, or is ours committed?
    const [, status] = await inTime(queryTogether(client, [{ text: 'ROLLBACK' }, { text: statusText(locked) }]))
    return status?.value === 'committed'
  } finally {
    await inTime(client.query('ROLLBACK'))
  }
}

interface Ending {
  readonly locked: Locked
  readonly value: string | null
}

/** Fails if the work has ended its transaction, so that the COMMIT behind it is not reached. */
function endStatements(tables: LedgerTables, { scope, id }: MessageDraft, { locked, value }: Ending) {
  const ours: PipelinedStatement[] = [{ text: takeRole(locked) }, { text: insistStatement(tables, locked) }]
  if (value === null) return ours
  const text = `UPDATE ${tables.messages} SET value = $3 WHERE scope = $1 AND id = $2`
  return [...ours, { text, values: [scope, id, value] }]
}

async function recordedValue(
  client: StatementRunner,
  tables: LedgerTables,
  message: MessageDraft,
): Promise<string | null> {
  const { rows } = await client.query(`SELECT value FROM ${tables.messages} WHERE ${placeOf(message)}`)
  return (rows[0] as { value: string | null } | undefined)?.value ?? null
}

export async function forgetMessage(
  connections: PostgresQueryable,
  { messages }: LedgerTables,
  { scope, id }: MessageDraft,
): Promise<void> {
  await connections.query(`DELETE FROM ${messages} WHERE scope = $1 AND id = $2`, [scope, id])
}

function placeOf({ scope, id }: MessageDraft): string {
  return `scope = ${literal(scope)} AND id = ${literal(id)}`
}

/**
 * In a transaction that the caller has begun and will end. A duplicate waits at the insert until the first transaction has
 * ended: the connection is the caller's.
 */
export async function consumeGiven<Tx>(
  tables: LedgerTables,
  message: MessageDraft,
  { work, options }: Consumption<Tx>,
): Promise<Consumed> {
  const client = givenClient(options)
  let begun = false
  try {
    const answers = await afterSavepoint(client, insertText(tables, { ...message, leaseMs: undefined }))
    const row = begunBy(answers.at(1)?.rows[0])
    const locked = row === HELD ? undefined : row
    begun = locked !== undefined
    const value = locked
      ? await runWork(() => work(options.transaction as Tx))
      : await recordedValue(client, tables, message)
    const end = locked ? endStatements(tables, message, { locked, value }) : []
    await runWithValues(client, [...end, ...standbyStatements(tables), { text: RELEASE }])
    return row === HELD ? consumedByHolder(HELD) : { duplicate: !locked, value }
  } catch (error) {
    const undone: unknown = await rollBackToSavepoint(client).catch((cause: unknown) => cause)
    const cause = error instanceof WorkError ? error.error : failureOf(explainWork(error))
    throw begun && isEndedCode(undone) ? new EndedTransactionError(cause) : cause
  }
}

async function runWork(work: () => string | null | Promise<string | null>): Promise<string | null> {
  try {
    return await work()
  } catch (error) {
    throw new WorkError(error)
  }
}

function insertText({ functions }: LedgerTables, message: MessageDraft, patience?: string): string {
  const { scope, id, retentionMs, leaseMs } = message
  const idle = leaseMs === undefined ? 'NULL' : idleLimitMs(leaseMs)
  const values = [literal(scope), literal(id), Number(retentionMs), patience ? literal(patience) : 'NULL', idle]
  return `SELECT ${functions}_consume_v2(${values.join(', ')}) AS locked, ${IDLE_COLUMN}`
}
