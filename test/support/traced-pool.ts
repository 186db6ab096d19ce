import type pg from 'pg'
import type { PostgresClient, PostgresPool } from '../../src/sql/postgres-driver.ts'

export interface Trace {
  /** What clients of the pool were asked, in order. */
  readonly texts: string[]
  /** How often the server has said that it is ready: once per round trip. */
  trips: number
  clear(): void
}

interface Wire {
  readonly connection: { on(event: 'readyForQuery', listener: () => void): unknown }
}

/** Notes each call of `query`, and counts the round trips that the server has seen. To be called before the first connection. */
export function traced(pool: pg.Pool): Trace {
  const trace: Trace = {
    texts: [],
    trips: 0,
    clear: () => {
      trace.texts.length = 0
      trace.trips = 0
    },
  }
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => never
    const noting = (config: string | { readonly text: string }, ...more: unknown[]): never => {
      trace.texts.push(typeof config === 'string' ? config : config.text)
      return query(config, ...more)
    }
    Object.assign(client, { query: noting })
    ;(client as unknown as Wire).connection.on('readyForQuery', () => trace.trips++)
  })
  return trace
}

type Send = () => ReturnType<PostgresClient['query']>

/** A pool of another make than pg's: each statement takes a round trip of its own, and passes through `intercept`. */
export function foreignPool(pool: pg.Pool, intercept: (text: string, send: Send) => ReturnType<Send>): PostgresPool {
  const through = (target: Pick<PostgresClient, 'query'>): PostgresClient['query'] => {
    return (text, values) => intercept(text, () => target.query(text, values))
  }
  return {
    query: through(pool as PostgresPool),
    connect: async () => {
      const client = (await pool.connect()) as PostgresClient
      return {
        query: through(client),
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      }
    },
    end: () => pool.end(),
  }
}
