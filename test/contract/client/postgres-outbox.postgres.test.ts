import { PrismaPg } from '@prisma/adapter-pg'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConfigurationError, createClient, KeyReuseError, StorageError } from '../../../src/index.ts'
import { PrismaClient } from '../../database-libraries/recipes/generated/client.ts'
import { faultJournal, on } from '../../support/fault-journal.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()
beforeAll(() => scene.query('CREATE TABLE orders (id integer NOT NULL)'))

let count = 0

/** A client with a namespace of its own, and what the API was sent. */
function shop() {
  const sent: string[] = []
  const pool = scene.pool()
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    namespace: `outbox-${++count}`,
    journal: scene.journalWith({ pool, schema: scene.schema }),
    fetch: async (_, init) => {
      sent.push(new TextDecoder().decode(init?.body as Uint8Array))
      return new Response('charged')
    },
  })
  const listed = async () => {
    const keys: string[] = []
    for await (const { key } of client.operations()) keys.push(key)
    return keys
  }
  return { client, pool, sent, listed, prepare: () => client.prepare('POST', '/charges', { body: `it's \\ 5000` }) }
}

const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%holdfast_journal%'`

/** Looks every 20 ms, for at most two seconds: the other waits no longer than three. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 100 && !(await isSo()); looks++) await new Promise((go) => setTimeout(go, 20))
}

type Runner = { query(text: string): Promise<{ rows: readonly unknown[] }> }
type Transact = (pool: pg.Pool, work: (tx: Runner) => Promise<void>) => Promise<unknown>

const libraries: Record<string, Transact> = {
  'a client of pg': async (pool, work) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await work(client)
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  },
  Drizzle: (pool, work) => drizzle(pool).transaction((tx) => work({ query: (text) => tx.execute(sql.raw(text)) })),
  Kysely: (pool, work) =>
    new Kysely({ dialect: new PostgresDialect({ pool }) })
      .transaction()
      .execute((tx) => work({ query: (text) => tx.executeQuery(CompiledQuery.raw(text)) })),
  Knex: async (_, work) => {
    const db = knex({ client: 'pg', connection: scene.url, searchPath: [scene.schema] })
    await db.transaction(async (tx) => work(await tx.client.acquireConnection())).finally(() => db.destroy())
  },
  Prisma: (pool, work) =>
    new PrismaClient({ adapter: new PrismaPg(pool) }).$transaction((tx) =>
      work({ query: async (text) => ({ rows: await tx.$queryRawUnsafe<unknown[]>(text) }) }),
    ),
}

describe.each(Object.entries(libraries))('a record in the transaction of %s', (_, transact) => {
  const ordersOf = (id: number) => scene.query('SELECT FROM orders WHERE id = $1', [id])

  it('comes with the commit, and a resume sends it', async () => {
    const { client, pool, sent, listed, prepare } = shop()
    const prepared = await prepare()
    const id = count
    await transact(pool, async (tx) => {
      await tx.query(`INSERT INTO orders VALUES (${id})`)
      await prepared.persist(tx)
      expect(await listed()).toEqual([])
    })
    expect(await listed()).toEqual([prepared.key])
    expect(await ordersOf(id)).toHaveLength(1)
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    expect(sent).toEqual([`it's \\ 5000`])
    await client.close()
  })

  it('goes with the rollback', async () => {
    const { client, pool, sent, listed, prepare } = shop()
    const prepared = await prepare()
    const id = count
    const changedMind = transact(pool, async (tx) => {
      await tx.query(`INSERT INTO orders VALUES (${id})`)
      await prepared.persist(tx)
      throw new Error('changed its mind')
    })
    await expect(changedMind).rejects.toThrow('changed its mind')
    expect(await listed()).toEqual([])
    expect(await ordersOf(id)).toEqual([])
    // Nothing shows here whether the transaction is over: a COMMIT in doubt looks the same.
    const unknown = { code: 'HOLDFAST_UNKNOWN_OPERATION', effect: 'unknown', pending: true }
    await expect(client.send(prepared)).rejects.toMatchObject(unknown)
    expect(sent).toEqual([])
    await client.close()
  })

  it('is unknown and pending while its transaction is open: it may still commit', async () => {
    const { client, pool, sent, prepare } = shop()
    const prepared = await prepare()
    await transact(pool, async (tx) => {
      await prepared.persist(tx)
      const error = await Promise.resolve(client.send(prepared)).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'HOLDFAST_UNKNOWN_OPERATION', effect: 'unknown', pending: true })
    })
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    expect(sent).toHaveLength(1)
    await client.close()
  })

  it('that has a key of another is refused, and the transaction can go on', async () => {
    const { client, pool, listed, prepare } = shop()
    const prepared = await prepare()
    await transact(pool, async (tx) => {
      await prepared.persist(tx)
      await expect(Promise.resolve(prepared.persist(tx))).rejects.toThrow(KeyReuseError)
      await tx.query('SELECT 1')
    })
    expect(await listed()).toEqual([prepared.key])
    await client.close()
  })
})

/** The default of Postgres until 2010, which old applications still ask for: a backslash in any literal is an escape. */
const OLD_STRINGS = 'SET standard_conforming_strings = off'

describe('a connection that takes a backslash for an escape', () => {
  it.each(Object.entries(libraries).slice(0, 3))('of %s writes the same record', async (_, transact) => {
    const { client, pool, sent } = shop()
    const metadata = { path: 'C:\\temp', quoted: "it's" }
    const prepared = await client.prepare('POST', '/charges', {
      body: `it's \\ 5000`,
      id: 'a\\b',
      name: 'n\\',
      metadata,
    })
    await transact(pool, async (tx) => {
      await tx.query(OLD_STRINGS)
      await prepared.persist(tx)
    })
    expect(await client.operation('a\\b')).toMatchObject({ key: prepared.key, name: 'n\\', metadata })
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    expect(sent).toEqual([`it's \\ 5000`])
    await client.close()
  })
})

describe('an id under which another transaction is just writing', () => {
  it('is not told to be free by a call whose own append failed', async () => {
    const { client, pool } = shop()
    const options = { id: 'order:7', body: 'charge' }
    const first = await client.prepare('POST', '/charges', options)
    const connection = await pool.connect()
    await connection.query('BEGIN')
    await first.persist(connection)
    const journal = faultJournal(scene.journalWith({ pool, schema: scene.schema }))
    // Once in its batch, and once alone.
    journal.fault = on('append', 'fail', 2)
    const second = createClient({ baseUrl: 'http://127.0.0.1:1', namespace: `outbox-${count}`, journal })
    const told = second.post('/charges', options).then(
      () => undefined,
      (error: unknown) => error,
    )
    await until(async () => (await scene.query(WAITING)).length > 0)
    await connection.query('COMMIT')
    connection.release()
    expect(await told).toMatchObject({ name: 'StorageError', pending: true, operation: { key: first.key } })
    await second.close()
    await client.close()
  })
})

describe('persist', () => {
  it('outside of a transaction, or with something else, is refused before anything is written', async () => {
    const { client, pool, listed, prepare } = shop()
    const prepared = await prepare()
    const connection = await pool.connect()
    await expect(prepared.persist(connection)).rejects.toThrow(ConfigurationError)
    await expect(prepared.persist(connection)).rejects.toThrow('send BEGIN first')
    connection.release()
    for (const other of [{}, null, 'BEGIN']) await expect(prepared.persist(other)).rejects.toThrow(ConfigurationError)
    expect(await listed()).toEqual([])
    await client.close()
  })

  it('in a database without the tables says so, and does not end the transaction', async () => {
    const { prepare, client } = shop()
    const prepared = await prepare()
    const name = `${scene.schema}_other`
    await scene.query(`CREATE DATABASE ${name}`)
    const url = new URL(scene.url)
    url.pathname = name
    const pool = scene.pool({ connectionString: url.href, options: '' })
    const connection = await pool.connect()
    await connection.query('BEGIN')
    await expect(prepared.persist(connection)).rejects.toThrow(StorageError)
    expect((await connection.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await connection.query('ROLLBACK')
    connection.release()
    await pool.end()
    await scene.query(`DROP DATABASE ${name}`)
    await client.close()
  })

  it('leaves the settings of the transaction as they are', async () => {
    const { pool, prepare, client } = shop()
    const prepared = await prepare()
    const connection = await pool.connect()
    await connection.query("BEGIN; SET LOCAL lock_timeout = '17s'")
    await prepared.persist(connection)
    const { rows } = await connection.query(`SELECT current_setting('lock_timeout') AS patience,
      current_setting('enable_seqscan') AS scans`)
    expect(rows).toEqual([{ patience: '17s', scans: 'on' }])
    await connection.query('COMMIT')
    connection.release()
    expect(await (await client.send(prepared)).text()).toBe('charged')
    await client.close()
  })
})
