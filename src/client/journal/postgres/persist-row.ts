import { ConfigurationError } from '../../../errors/classes.ts'
import { isHoldfastError } from '../../../errors/holdfast-error.ts'
import { postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import { bytesLiteral, literal } from '../../../sql/postgres-text.ts'
import { runStatements, type StatementRunner } from '../../../sql/statement-runner.ts'
import { alreadyTaken } from '../already-taken.ts'
import type { JournalCommand, JournalRow } from '../port.ts'
import { type BatchLine, decodeAnswers, encodeBatch } from './journal-batch.ts'
import type { JournalTables } from './journal-tables.ts'
import { SUBJECT } from './send-statement.ts'

/*
 * A savepoint shows whether a transaction has begun, and a statement of ours that fails does not end it.
 */
const SAVEPOINT = 'SAVEPOINT holdfast_persist'
const RELEASE = 'RELEASE SAVEPOINT holdfast_persist'
const ROLL_BACK_TO = 'ROLLBACK TO SAVEPOINT holdfast_persist'

/**
 * The outbox: writes one row inside the caller's open transaction, with which it comes or goes. It is as durable as that
 * transaction.
 */
export async function persistRow(tables: JournalTables, transaction: unknown, row: JournalRow): Promise<void> {
  const runner = runnerOf(transaction)
  const commands: readonly JournalCommand[] = [{ do: 'append', row }]
  const text = appendStatement(tables, commands)
  const [, answer] = await withinSavepoint(runner, text)
  const [result] = decodeAnswers(commands, answer?.rows as BatchLine[])
  const { appended, existing } = result as { appended: boolean; existing?: JournalRow }
  if (!appended && existing) throw alreadyTaken(row, existing.id)
}

function runnerOf(transaction: unknown): StatementRunner {
  if (typeof (transaction as Partial<StatementRunner> | null)?.query === 'function')
    return transaction as StatementRunner
  throw new ConfigurationError(
    'persist() takes a client of the package pg on which BEGIN was sent, or an object with `query(text)` that runs one ' +
      'statement in a transaction that has begun and resolves to its `{ rows }`',
  )
}

/** With literals: the transaction of a library that stands between may take a text only. */
function appendStatement({ runBatch, requiresStandby }: JournalTables, commands: readonly JournalCommand[]): string {
  const { commands: encoded, bodies } = encodeBatch(commands, { insists: requiresStandby })
  const bytes = bodies.map(bytesLiteral)
  return `SELECT at, answer, NULL AS bytes, NULL AS response_bytes
    FROM ${runBatch}(NULL, false, NULL, ${literal(encoded)}::jsonb, ARRAY[${bytes.join(', ')}]::bytea[])`
}

async function withinSavepoint(runner: StatementRunner, statement: string): ReturnType<typeof runStatements> {
  try {
    return await runStatements(runner, [SAVEPOINT, statement, RELEASE])
  } catch (cause) {
    if (postgresCode(cause) === '25P01') {
      throw new ConfigurationError('persist() was called outside a transaction: send BEGIN first', { cause })
    }
    await runStatements(runner, [ROLL_BACK_TO, RELEASE]).catch(() => {})
    throw isHoldfastError(cause) ? cause : postgresFailure(cause, SUBJECT)
  }
}
