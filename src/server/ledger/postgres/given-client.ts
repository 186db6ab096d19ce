import { ConfigurationError } from '../../../errors/classes.ts'
import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import type { TransactOptions } from '../port.ts'

/** The client on which the caller has begun a transaction. */
export function givenClient({ transaction, isolation }: TransactOptions<unknown>): PostgresQueryable {
  if (typeof (transaction as Partial<PostgresQueryable> | null)?.query !== 'function') {
    throw new ConfigurationError('The option `transaction` is a client of the package pg on which BEGIN was sent')
  }
  if (isolation !== undefined) {
    throw new ConfigurationError('The option `isolation` cannot be given together with a `transaction` that has begun')
  }
  return transaction as PostgresQueryable
}

export async function enterGiven(client: PostgresQueryable): Promise<void> {
  try {
    await client.query('SAVEPOINT holdfast_claim')
  } catch (cause) {
    if (postgresCode(cause) !== '25P01') throw cause
    throw new ConfigurationError('The given `transaction` has not begun: send BEGIN first', { cause })
  }
}

/** Back to where we came in, with all that was locked meanwhile. */
export async function leaveGiven(client: PostgresQueryable): Promise<void> {
  await client.query('ROLLBACK TO SAVEPOINT holdfast_claim')
  await keepGiven(client)
}

export async function keepGiven(client: PostgresQueryable): Promise<void> {
  await client.query('RELEASE SAVEPOINT holdfast_claim')
}
