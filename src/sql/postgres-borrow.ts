import { isThenable } from '../foundation/thenable.ts'
import type { PostgresClient, PostgresPool } from './postgres-driver.ts'

/** A client that is checked out of the pool. */
export interface Borrowed {
  readonly client: PostgresClient
  /** Its state is unknown: it is closed instead of returned to the pool. */
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
 * `onLost` hears of a connection that ends while no statement runs; unheard, that error would end the process. Taken by
 * callback, which the driver calls as it removes its own listener: a promise resolves later, and an error in between
 * would have no listener.
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
