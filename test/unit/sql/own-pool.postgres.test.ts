import { createServer, type Server } from 'node:net'
import pg from 'pg'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { MigratedPool } from '../../../src/sql/migrated-pool.ts'
import { openOwnPool } from '../../../src/sql/own-pool.ts'
import type { PostgresPool } from '../../../src/sql/postgres-driver.ts'
import { postgresScene } from '../../support/postgres.ts'

const scene = postgresScene()
const target = new URL(inject('postgresUrl'))
const parts = {
  host: target.hostname,
  port: Number(target.port),
  user: target.username,
  database: target.pathname.slice(1),
}
const password = decodeURIComponent(target.password)

const opened: { end(): Promise<void> }[] = []
afterEach(async () => {
  for (const pool of opened.splice(0)) await pool.end()
})

async function ownOf(pool: pg.Pool): Promise<PostgresPool> {
  const own = await openOwnPool({ pool })
  if (own !== (pool as PostgresPool)) opened.push(own)
  return own
}

const whoIs = 'SELECT current_user AS name, pg_backend_pid() AS pid'

describe('a pool of the library’s own', () => {
  it.each<[string, pg.PoolConfig]>([
    ['a connection string', { connectionString: inject('postgresUrl') }],
    ['a password', { ...parts, password }],
    ['a function that gives the password', { ...parts, password: async () => password }],
  ])('connects as the application does, which gave %s', async (_, options) => {
    const own = await ownOf(scene.pool({ connectionString: undefined, ...options }))
    expect((await own.query(whoIs)).rows).toMatchObject([{ name: parts.user }])
  })

  it('connects as the environment says', async () => {
    const names = {
      PGHOST: parts.host,
      PGPORT: String(parts.port),
      PGUSER: parts.user,
      PGPASSWORD: password,
      PGDATABASE: parts.database,
    }
    const before = { ...process.env }
    Object.assign(process.env, names)
    try {
      const own = await ownOf(scene.pool({ connectionString: undefined }))
      expect((await own.query(whoIs)).rows).toMatchObject([{ name: parts.user }])
    } finally {
      for (const name of Object.keys(names)) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
  })

  it('asks for TLS where the application does', async () => {
    const server: Server = createServer((socket) => {
      socket.once('data', (hello) => {
        asked = hello.readInt32BE(4)
        socket.end('N')
      })
    })
    let asked = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const pool = scene.pool({
      connectionString: undefined,
      ...parts,
      port,
      password,
      ssl: { rejectUnauthorized: false },
    })
    await expect(ownOf(pool)).rejects.toThrow('SSL')
    server.close()
    expect(asked).toBe(80_877_103)
  })

  it('is prepared as the application prepares its connections', async () => {
    const pool = scene.pool()
    pool.on('connect', (client) => void client.query(`SET application_name = 'prepared'`))
    const own = await ownOf(pool)
    const { rows } = await own.query(`SELECT current_setting('application_name') AS name`)
    expect(rows).toEqual([{ name: 'prepared' }])
  })

  it('has two connections and a time limit for each statement, whatever the application has', async () => {
    const own = await ownOf(scene.pool({ max: 50, min: 7, statement_timeout: 0, query_timeout: 0 }))
    expect((own as unknown as pg.Pool).options).toMatchObject({
      max: 2,
      min: 0,
      query_timeout: 5000,
      allowExitOnIdle: true,
    })
    expect((await own.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '4s' }])
  })

  it('is made for a pool whose class takes other arguments', async () => {
    class ShopPool extends pg.Pool {
      constructor({ url }: { readonly url: string }) {
        super({ connectionString: url })
      }
    }
    const pool = new ShopPool({ url: inject('postgresUrl') })
    opened.push(pool)
    const own = await ownOf(pool)
    expect((own as unknown as pg.Pool).options.max).toBe(2)
    expect((await own.query(whoIs)).rows).toHaveLength(1)
  })

  it('is the application’s if that is of another make', async () => {
    const pool = scene.pool()
    const other = { query: pool.query.bind(pool), connect: pool.connect.bind(pool), end: pool.end.bind(pool) }
    expect(await openOwnPool({ pool: other as PostgresPool })).toBe(other)
  })
})

describe('a pool with tables', () => {
  const schema = { component: 'test', name: scene.schema, quotedName: scene.schema, steps: ['SELECT 1'], oldest: 1 }
  const migrated = (pool: pg.Pool) =>
    new MigratedPool({ place: { pool }, schema, subject: 'The test', migration: 'migrate()' })

  it('ends with the application’s, and a ledger that is closed later does not mind', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgresUrl') })
    const tables = migrated(pool)
    const own = (await tables.own()) as PostgresPool & { readonly ending: boolean }
    await pool.query('SELECT 1')
    await pool.end()
    await expect.poll(() => own.ending).toBe(true)
    await expect(tables.close()).resolves.toBeUndefined()
  })

  it('makes them and works while the application holds all of its connections', async () => {
    const pool = scene.pool({ max: 1 })
    const held = await pool.connect()
    const tables = migrated(pool)
    const own = await tables.own()
    expect((await own.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(await tables.get()).toBe(pool)
    expect(await tables.own()).toBe(own)
    await tables.close()
    expect((own as unknown as pg.Pool).ended).toBe(true)
    expect(pool.ended).toBe(false)
    held.release()
  })

  it('does not let the process end when a connection dies, in use or not', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 })
    opened.push(pool)
    const tables = migrated(pool)
    await tables.own()
    const inUse = await pool.connect()
    const { rows } = await inUse.query(whoIs)
    await Promise.all([
      pool.query(whoIs).then((idle) => scene.terminate(idle.rows[0].pid)),
      scene.terminate(rows[0].pid),
    ])
    await expect.poll(() => pool.idleCount).toBe(0)
    await expect(inUse.query('SELECT 1')).rejects.toThrow()
    inUse.release(true)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await tables.close()
  })
})
