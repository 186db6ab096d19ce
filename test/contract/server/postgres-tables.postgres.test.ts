import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { migratePostgresLedger, postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { answer, claimed, draft, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()
let count = 0

/** The name of a schema that does not exist yet, and is gone after the file. */
function newName(extra = ''): string {
  return `${scene.schema}_${++count}${extra}`
}

async function dropped(name: string): Promise<void> {
  await scene.query(`DROP SCHEMA IF EXISTS "${name.replaceAll('"', '""')}" CASCADE`)
}

describe('the tables', () => {
  it('are made once where several replicas start at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const schema = newName()
      const ledgers = Array.from({ length: 6 }, () => postgresLedger({ pool: scene.pool(), schema }))
      const { key } = draft()
      const insertions = await Promise.all(ledgers.map((ledger) => ledger.insert(draft({ key }))))
      expect(insertions.filter(({ kind }) => kind === 'inserted')).toHaveLength(1)
      const versions = await scene.query(`SELECT * FROM ${schema}.holdfast_migrations ORDER BY version`)
      expect(versions).toEqual([
        { component: 'ledger', version: 1, oldest: 1 },
        { component: 'ledger', version: 2, oldest: 1 },
        { component: 'ledger', version: 3, oldest: 1 },
      ])
      await dropped(schema)
    }
  })

  it('are left to the next replica where the one that makes them is cut off', async () => {
    const schema = newName()
    const pool = scene.pool({ max: 1 })
    const limits: unknown[] = []
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...given: unknown[]) => Promise<pg.QueryResult>
      const looking = async (text: string, ...more: unknown[]): Promise<pg.QueryResult> => {
        const answer = await query(text, ...more)
        if (text.includes('pg_advisory')) limits.push(...(await query('SHOW idle_in_transaction_session_timeout')).rows)
        return answer
      }
      Object.assign(client, { query: looking })
    })
    await migratePostgresLedger({ pool, schema })
    expect(limits).toEqual([{ idle_in_transaction_session_timeout: '10s' }])
    await dropped(schema)
  })

  it('are in a schema of any name', async () => {
    const schema = newName(`"; DROP TABLE charges; -- Ä'`)
    const ledger = postgresLedger({ pool: scene.pool(), schema })
    await claimed(ledger)
    expect(await ledger.stats(0)).toMatchObject({ running: 1 })
    await dropped(schema)
    expect(await scene.effects('none')).toBe(0)
  })

  it('are left alone where a newer version has made them', async () => {
    const schema = newName()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    await scene.query(`INSERT INTO ${schema}.holdfast_migrations VALUES ('ledger', 4, 4)`)
    const ledger = postgresLedger({ pool: scene.pool(), schema })
    await expect(ledger.insert(draft())).rejects.toThrow(StorageError)
    await expect(ledger.insert(draft())).rejects.toThrow('update this installation')
    expect(await scene.query(`SELECT * FROM ${schema}.holdfast_entries`)).toEqual([])
    await dropped(schema)
  })

  it('of a newer version are used where that one says that they can be', async () => {
    const schema = newName()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    await scene.query(`INSERT INTO ${schema}.holdfast_migrations VALUES ('ledger', 4, 1)`)
    const ledger = postgresLedger({ pool: scene.pool(), schema })
    await claimed(ledger)
    expect(await scene.query(`SELECT max(version) AS newest FROM ${schema}.holdfast_migrations`)).toEqual([
      { newest: 4 },
    ])
    await dropped(schema)
  })

  it('of the version before are brought up to date, and its replicas go on', async () => {
    const schema = newName()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    const second = await scene.query<{ name: string }>(
      `SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace AND proname LIKE '%_v2'`,
    )
    for (const { name } of second) await scene.query(`DROP FUNCTION ${name}`)
    await scene.query(`DELETE FROM ${schema}.holdfast_migrations WHERE version > 1`)
    const ledger = postgresLedger({ pool: scene.pool(), schema })
    const claim = await claimed(ledger)
    expect(await ledger.complete(claim, answer('done'), 0)).toBe(true)
    // What a replica of the version before calls.
    await scene.query(`SELECT ${schema}.holdfast_mark_v1('s', 'k', 't'), ${schema}.holdfast_look_v1('s', 'k')`)
    expect(second).toHaveLength(4)
    await dropped(schema)
  })

  it('of version 2 get functions with a search path of their own, which its replicas call too', async () => {
    const schema = newName()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    const functions = () =>
      scene.query<{ name: string; path: string | null }>(
        `SELECT oid::regprocedure::text AS name, array_to_string(proconfig, ' ') AS path FROM pg_proc
         WHERE pronamespace = '${schema}'::regnamespace ORDER BY name`,
      )
    await scene.query(`DROP FUNCTION ${schema}.holdfast_standby_v1()`)
    for (const { name } of await functions()) await scene.query(`ALTER FUNCTION ${name} RESET ALL`)
    await scene.query(`DELETE FROM ${schema}.holdfast_migrations WHERE version > 2`)
    const old = await functions()
    await claimed(postgresLedger({ pool: scene.pool(), schema }))
    const now = await functions()
    expect(now.filter(({ name }) => !name.includes('standby')).map(({ name }) => name)).toEqual(
      old.map(({ name }) => name),
    )
    expect(new Set(now.map(({ path }) => path))).toEqual(new Set(['search_path=pg_catalog, pg_temp']))
    await dropped(schema)
  })

  it('are made by one of several replicas that start at once, whatever limit for locks their role has', async () => {
    for (let round = 0; round < 3; round++) {
      const schema = newName()
      const hasty = () => postgresLedger({ pool: scene.pool({ options: '-c lock_timeout=1ms' }), schema })
      await Promise.all(Array.from({ length: 8 }, () => hasty().stats(0)))
      await dropped(schema)
    }
    expect(count).toBeGreaterThan(3)
  })

  it('are not made by a ledger that was told so, but by the call that it names', async () => {
    const schema = newName()
    const ledger = postgresLedger({ pool: scene.pool(), schema, migrate: false })
    await expect(ledger.insert(draft())).rejects.toThrow('migratePostgresLedger({ pool, schema })')
    expect(await scene.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
    await migratePostgresLedger({ connectionString: scene.url, schema })
    await claimed(ledger)
    await dropped(schema)
    expect(() => postgresLedger({ pool: scene.pool(), migrate: 'no' as never })).toThrow('`migrate`')
  })

  it('that another transaction holds are not waited for without an end', async () => {
    const schema = newName()
    const locked = await scene.pool().connect()
    await scene.query(`CREATE SCHEMA ${schema}`)
    await scene.query(`CREATE TABLE ${schema}.holdfast_migrations (component text NOT NULL, version integer NOT NULL,
      oldest integer NOT NULL, PRIMARY KEY (component, version))`)
    await locked.query(`BEGIN; LOCK TABLE ${schema}.holdfast_migrations IN SHARE MODE`)
    const ledger = postgresLedger({ pool: scene.pool(), schema })
    await expect(ledger.insert(draft())).rejects.toThrow('(55P03)')
    await locked.query('ROLLBACK')
    locked.release()
    await claimed(ledger)
    await dropped(schema)
  })

  it('can be used by a role that may create nothing', async () => {
    const schema = newName()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    const role = `${schema}_role`
    await scene.query(`CREATE ROLE ${role}`)
    await scene.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    await scene.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    const limited = postgresLedger({ pool: scene.pool({ options: `-c role=${role}` }), schema })
    await claimed(limited)
    const elsewhere = postgresLedger({ pool: scene.pool({ options: `-c role=${role}` }), schema: newName() })
    await expect(elsewhere.insert(draft())).rejects.toThrow('the role lacks the permission (42501)')
    await scene.query(`DROP OWNED BY ${role}`)
    await scene.query(`DROP ROLE ${role}`)
    await dropped(schema)
  })

  it('are asked for again where the first try failed', async () => {
    const schema = newName()
    const role = `${schema}_role`
    await scene.query(`CREATE ROLE ${role}`)
    const ledger = postgresLedger({ pool: scene.pool({ options: `-c role=${role}` }), schema })
    await expect(ledger.insert(draft())).rejects.toThrow(StorageError)
    await scene.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
    await claimed(ledger)
    await scene.query(`DROP OWNED BY ${role} CASCADE`)
    await scene.query(`DROP ROLE ${role}`)
  })
})
