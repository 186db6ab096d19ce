import { isThenable } from '../foundation/thenable.ts'
import type { PostgresClient, PostgresPool } from './postgres-driver.ts'

/** A client that is ours for a while. */
export interface Borrowed {
  readonly client: PostgresClient
  /** Nobody knows what state it is in: it is closed instead of given back. */
  spoil(): void
  /** What ended its connection while no statement ran; undefined as long as it lives. */
  lost(): Error | undefined
}

/** Gives the work a client of the pool, and always gives it back. */
export async function borrowed<T>(pool: PostgresPool, work: (borrowed: Borrowed) => Promise<T>): Promise<T> {
  let spoilt = false
  const spoil = (): void => {
    spoilt = true
  }
  let lost: Error | undefined
  const onLost = (error: Error): void => {
    spoil()
    lost ??= error
  }
  const client = await taken(pool, onLost)
  try {
    return await work({ client, spoil, lost: () => lost })
  } catch (error) {
    spoil()
    throw error
  } finally {
    client.removeListener('error', onLost)
    client.release(spoilt)
  }
}

type TakeClient = (given: (error: unknown, client?: PostgresClient) => void) => unknown

/**
 * A client that loses its connection while no statement runs tells so to `onLost`, and would end the process otherwise.
 * By a callback, which the driver calls in the moment in which it takes its own listener away: a promise comes later,
 * and the end of the connection may have been read in the same piece as what came before it.
 */
function taken(pool: PostgresPool, onLost: (error: Error) => void): Promise<PostgresClient> {
  return new Promise((resolve, reject) => {
    const given = (error: unknown, client?: PostgresClient): void => {
      if (!client) {
        reject(error)
        return
      }
      client.on('error', onLost)
      resolve(client)
    }
    // Pools of other make may know promises only.
    const promised = (pool.connect as TakeClient).call(pool, given)
    if (isThenable(promised)) promised.then((client) => given(undefined, client as PostgresClient), given)
  })
}
