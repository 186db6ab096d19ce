import { ConfigurationError } from '../../../errors/classes.ts'
import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { Claim, Verdict } from '../port.ts'
import { mine, recording } from './claim-statements.ts'
import { answerValues } from './entry-row.ts'
import type { LedgerTables } from './ledger-tables.ts'
import { type Locked, takeRole } from './transaction-settings.ts'

/** Around the work: what it wrote can be undone without losing the transaction, and it shows that it is still the same. */
export const SAVEPOINT = 'SAVEPOINT holdfast_effect'

/** The work has ended the transaction that it was given; what it wrote is committed, or lost, without its key. */
export class EndedTransactionError extends ConfigurationError {
  override name = 'EndedTransactionError'
}

/** Keeps the writes of the work or undoes them; the transaction goes on. `locked`: with statements of the ledger. */
export async function leaveWork(
  client: PostgresQueryable,
  kind: Verdict['kind'],
  locked: Locked | undefined,
): Promise<void> {
  // A rollback takes the role of the work along.
  const keep = `RELEASE SAVEPOINT holdfast_effect${locked ? `; ${takeRole(locked)}` : ''}`
  try {
    await client.query(kind === 'keep' ? keep : 'ROLLBACK TO SAVEPOINT holdfast_effect')
  } catch (cause) {
    throw explained(cause)
  }
}

function explained(cause: unknown): unknown {
  const code = postgresCode(cause)
  if (code === '25P02') {
    return new ConfigurationError(
      'A statement inside of effect() failed and the work went on: nothing can be kept of such a transaction. Let the ' +
        'error pass, or put a SAVEPOINT before a statement that may fail',
      { cause },
    )
  }
  if (code !== '25P01' && code !== '3B001') return cause
  return new EndedTransactionError('The work inside of effect() ended its transaction: COMMIT and ROLLBACK are ours', {
    cause,
    effect: 'unknown',
  })
}

/** running -> done inside the transaction. False where the claim is not ours. */
export async function record(
  client: PostgresQueryable,
  tables: LedgerTables,
  { claim, answer }: { readonly claim: Claim; readonly answer: RecordedAnswer },
): Promise<boolean> {
  const text = `UPDATE ${tables.entries} ${recording('')}`
  return (await client.query(text, [...mine(claim), ...answerValues(answer)])).rowCount === 1
}
