import { systemClock, yieldToEventLoop } from '../foundation/clock.ts'
import { isThenable } from '../foundation/thenable.ts'
import { waitAtMost } from '../foundation/wait.ts'
import type { PostgresClient, PostgresPool } from './postgres-driver.ts'

/** A client that is checked out of the pool. */
export interface Borrowed {
  readonly client: PostgresClient
  /** Its state is unknown: it is closed instead of returned to the pool. */
  spoil(): void
  /** What ended its connection while no statement ran; undefined as long as it lives. */
  lost(): Error | undefined
  /** What the work gives, unless the connection ends before: then rejects with what ended it, and the work is ignored. */
  whileConnected<T>(work: T | PromiseLike<T>): Promise<T>
}

/**
 * Gives the work a client of the pool, and gives it back exactly once: when the work has ended, or as soon as its
 * connection has. `patienceMs`: how long it waits for that client. Work that waits for the same pool would otherwise keep a dead client out of it for ever.
 */
export async function borrowed<T>(
  pool: PostgresPool,
  work: (borrowed: Borrowed) => Promise<T>,
  patienceMs?: number,
): Promise<T> {
  const loan = new Loan()
  const taking = taken(pool, loan.lose)
  const client = await (patienceMs === undefined ? taking : inTime(taking, patienceMs))
  loan.begin(client)
  try {
    return await work({ client, spoil: loan.spoil, lost: () => loan.error, whileConnected: loan.whileConnected })
  } catch (error) {
    loan.spoil()
    throw error
  } finally {
    loan.end()
  }
}

/** A client that comes too late goes back at once. */
function inTime(taking: Promise<PostgresClient>, ms: number): Promise<PostgresClient> {
  const late = (): never => {
    taking.then(
      (client) => client.release(),
      () => {},
    )
    throw new Error('timeout exceeded when trying to connect')
  }
  return waitAtMost(systemClock, taking, { ms: Math.max(0, ms), late })
}

class Loan {
  error: Error | undefined
  #client: PostgresClient | undefined
  #isSpoilt = false
  #isOver = false
  #onLost: (error: Error) => void = () => {}
  readonly #lost = new Promise<never>((_, reject) => {
    this.#onLost = reject
  })

  constructor() {
    // Work that never asks has no use for it.
    this.#lost.catch(() => {})
  }

  /** The connection may have ended before the borrower has its client. */
  begin(client: PostgresClient): void {
    this.#client = client
    if (this.error) this.end()
  }

  readonly spoil = (): void => {
    this.#isSpoilt = true
  }

  readonly lose = (error: Error): void => {
    this.spoil()
    this.error ??= error
    this.end()
    // A statement that was under way fails as well, and the work may have more to say about it.
    void yieldToEventLoop().then(() => this.#onLost(error))
  }

  readonly whileConnected = <T>(work: T | PromiseLike<T>): Promise<T> => Promise.race([work, this.#lost])

  end(): void {
    const client = this.#client
    if (!client || this.#isOver) return
    this.#isOver = true
    client.release(this.#isSpoilt)
    // Only now: the pool listens again from here on.
    client.removeListener('error', this.lose)
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
