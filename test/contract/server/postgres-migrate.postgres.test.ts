import { describe, expect, it } from 'vitest'
import type { PostgresSchema } from '../../../src/sql/postgres-migrate.ts'
import { migratePostgres } from '../../../src/sql/postgres-migrate.ts'
import { postgresScene } from '../../support/postgres.ts'

const scene = postgresScene()
let count = 0

/** Tables of a component whose second version has an index that is built beside the work of others. */
function schemaWithIndex(): PostgresSchema & { readonly table: string; readonly index: string } {
  const table = `${scene.schema}.orders_${++count}`
  const index = `orders_${count}_name`
  return {
    component: `orders ${count}`,
    name: scene.schema,
    quotedName: scene.schema,
    oldest: 1,
    table,
    index,
    steps: [
      `CREATE TABLE ${table} (name text NOT NULL)`,
      { index, concurrently: `ON ${table} (name)` },
      `ALTER TABLE ${table} ADD COLUMN later text`,
    ],
  }
}

/** As the library was before the index. */
function firstVersionOf(schema: PostgresSchema): PostgresSchema {
  return { ...schema, steps: schema.steps.slice(0, 1) }
}

async function versionsOf({ component }: PostgresSchema): Promise<number[]> {
  const text = 'SELECT version FROM holdfast_migrations WHERE component = $1 ORDER BY version'
  return (await scene.query<{ version: number }>(text, [component])).map(({ version }) => version)
}

async function isValid(index: string): Promise<boolean | undefined> {
  const text = 'SELECT indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relname = $1'
  return (await scene.query<{ valid: boolean }>(text, [index]))[0]?.valid
}

describe('an index that is built concurrently', () => {
  it('is a step like any other', async () => {
    const schema = schemaWithIndex()
    await migratePostgres(scene.pool({ max: 1 }), schema)
    expect([await isValid(schema.index), await versionsOf(schema)]).toEqual([true, [1, 2, 3]])
    await migratePostgres(scene.pool(), schema)
    expect(await versionsOf(schema)).toEqual([1, 2, 3])
  })

  it('is built once where several replicas do it at the same time', async () => {
    for (let round = 0; round < 3; round++) {
      const schema = schemaWithIndex()
      await Promise.all(Array.from({ length: 6 }, () => migratePostgres(scene.pool(), schema)))
      expect([await isValid(schema.index), await versionsOf(schema)]).toEqual([true, [1, 2, 3]])
    }
  })

  it('replaces what a build that failed has left', async () => {
    const schema = schemaWithIndex()
    await migratePostgres(scene.pool(), firstVersionOf(schema))
    await scene.query(`INSERT INTO ${schema.table} VALUES ('twice'), ('twice')`)
    const failing = scene.query(`CREATE UNIQUE INDEX CONCURRENTLY ${schema.index} ON ${schema.table} (name)`)
    await expect(failing).rejects.toThrow('could not create unique index')
    expect(await isValid(schema.index)).toBe(false)
    await migratePostgres(scene.pool(), schema)
    expect([await isValid(schema.index), await versionsOf(schema)]).toEqual([true, [1, 2, 3]])
    await scene.query(`INSERT INTO ${schema.table} VALUES ('twice')`)
  })

  it('locks out no writer, and is not dropped by a replica that comes meanwhile', { timeout: 30_000 }, async () => {
    const schema = schemaWithIndex()
    await migratePostgres(scene.pool(), firstVersionOf(schema))
    const writer = await scene.pool().connect()
    await writer.query('BEGIN')
    await writer.query(`INSERT INTO ${schema.table} VALUES ('open')`)
    // It waits for the writer that was there before.
    const building = migratePostgres(scene.pool(), schema)
    await expect.poll(() => isValid(schema.index)).toBe(false)
    await scene.query(`INSERT INTO ${schema.table} VALUES ('meanwhile')`)
    await expect(migratePostgres(scene.pool(), schema)).rejects.toThrow('is being built by another replica')
    expect(await isValid(schema.index)).toBe(false)
    await writer.query('COMMIT')
    writer.release()
    await building
    expect([await isValid(schema.index), await versionsOf(schema)]).toEqual([true, [1, 2, 3]])
  })

  it('that fails is tried again by the next migration', async () => {
    const schema = schemaWithIndex()
    const broken = {
      ...schema,
      steps: [schema.steps[0] ?? '', { index: schema.index, concurrently: `ON ${schema.table} (nme)` }],
    }
    await expect(migratePostgres(scene.pool(), broken)).rejects.toThrow('column "nme" does not exist')
    expect(await versionsOf(schema)).toEqual([1])
    await migratePostgres(scene.pool(), schema)
    expect(await versionsOf(schema)).toEqual([1, 2, 3])
  })
})
