import type { PostgresClient, PostgresPool } from './postgres-driver.ts'

/** A client that is ours for a while. */
export interface Borrowed {
  readonly client: PostgresClient
  /** Nobody knows what state it is in: it is closed instead of given back. */
  spoil(): void
}

/** Gives the work a client of the pool, and always gives it back. */
export async function borrowed<T>(pool: PostgresPool, work: (borrowed: Borrowed) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let spoilt = false
  const spoil = (): void => {
    spoilt = true
  }
  // A client that loses its connection between two statements tells so here, and would end the process otherwise.
  client.on('error', spoil)
  try {
    return await work({ client, spoil })
  } catch (error) {
    spoil()
    throw error
  } finally {
    client.removeListener('error', spoil)
    client.release(spoilt)
  }
}
