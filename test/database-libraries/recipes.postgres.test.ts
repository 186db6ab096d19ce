import { randomUUID } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { IdempotencyContext } from '../../src/server/index.ts'
import { json } from '../../src/server/index.ts'
import type { PostgresTransaction } from '../../src/server/postgres/index.ts'
import { type Charging, chargeCases, order } from './charge-cases.ts'
import { PrismaClient } from './recipes/generated/client.ts'

const name = `holdfast_recipes_${process.pid}`

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(inject('postgresUrl'))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** A database of their own: a reader's tables and the ledger's have their default names in it. */
beforeAll(async () => {
  await administer(`CREATE DATABASE ${name}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = name
  process.env.DATABASE_URL = url.href
  const { pool } = await import('./recipes/postgres-shop.ts')
  await pool.query('CREATE TABLE charges (id serial PRIMARY KEY, amount integer NOT NULL)')
})

afterAll(async () => {
  await (await import('./recipes/postgres-knex.ts')).db.destroy()
  await (await import('./recipes/postgres-shop.ts')).pool.end()
  await administer(`DROP DATABASE ${name}`)
})

const created = () => json({}, { status: 201 })

async function charging(charge: Charging['charge']): Promise<Charging> {
  const { ledger, pool } = await import('./recipes/postgres-shop.ts')
  return {
    charge,
    rows: async (amount) => {
      const { rows } = await pool.query('SELECT count(*)::integer AS count FROM charges WHERE amount = $1', [amount])
      return rows[0].count
    },
    state: async (key) => (await ledger.find('account-7', key))?.state,
  }
}

describe.each([
  { library: 'Drizzle', recipe: () => import('./recipes/postgres-drizzle.ts') },
  { library: 'Kysely', recipe: () => import('./recipes/postgres-kysely.ts') },
  { library: 'Knex', recipe: () => import('./recipes/postgres-knex.ts') },
])("$library on the ledger's client", ({ recipe }) => {
  chargeCases(async () => charging((await recipe()).charge))
})

describe.each([
  { library: 'Drizzle', recipe: () => import('./recipes/postgres-drizzle.ts') },
  { library: 'Kysely', recipe: () => import('./recipes/postgres-kysely.ts') },
  { library: 'Knex', recipe: () => import('./recipes/postgres-knex.ts') },
  { library: 'Prisma', recipe: () => import('./recipes/postgres-prisma.ts') },
])('a transaction of $library', ({ recipe }) => {
  chargeCases(async () => charging((await recipe()).chargeInTransaction))
})

describe('a nested transaction inside of the effect', () => {
  const insert = 'insert into charges (amount) values'

  it('is a savepoint of Drizzle', async () => {
    const { ledger, pool } = await import('./recipes/postgres-shop.ts')
    const handler = ledger.protect((_request, { effect }) =>
      drizzle(pool).transaction((tx) => {
        const work = () => tx.transaction((inner) => inner.execute(sql.raw(`${insert} (-1)`))).then(created)
        return effect(work, { transaction: { query: (text) => tx.execute(sql.raw(text)) } })
      }),
    )
    expect((await handler(order(randomUUID(), 1))).status).toBe(201)
    expect(await (await charging(handler)).rows(-1)).toBe(1)
  })

  it('is a savepoint of Knex', async () => {
    const [{ ledger }, { db }] = [
      await import('./recipes/postgres-shop.ts'),
      await import('./recipes/postgres-knex.ts'),
    ]
    const handler = ledger.protect((_request, { effect }) =>
      db.transaction(async (tx) => {
        const work = () => tx.transaction((inner) => inner.raw(`${insert} (-2)`)).then(created)
        return effect(work, { transaction: await tx.client.acquireConnection() })
      }),
    )
    expect((await handler(order(randomUUID(), 1))).status).toBe(201)
    expect(await (await charging(handler)).rows(-2)).toBe(1)
  })
})

describe('a library that ends the transaction by itself', () => {
  type Effect = IdempotencyContext<PostgresTransaction<pg.Pool>>['effect']
  const ways: Record<string, (effect: Effect, pool: pg.Pool) => Promise<Awaited<ReturnType<Effect>>>> = {
    "Drizzle, with a transaction of its own on the ledger's client": (effect) =>
      effect(async (tx) => {
        await drizzle(tx as pg.PoolClient).transaction(async (inner) => void (await inner.execute(sql`select 1`)))
        return created()
      }),
    'Drizzle, in its own transaction': (effect, pool) =>
      drizzle(pool).transaction(async (tx) => {
        const commit = async () => tx.execute(sql`commit`).then(created)
        return effect(commit, { transaction: { query: (text) => tx.execute(sql.raw(text)) } })
      }),
    'Prisma, in its own transaction': (effect, pool) =>
      new PrismaClient({ adapter: new PrismaPg(pool) }).$transaction(async (tx) => {
        const commit = async () => tx.$queryRawUnsafe('commit').then(created)
        const query = async (text: string) => ({ rows: await tx.$queryRawUnsafe<unknown[]>(text) })
        return effect(commit, { transaction: { query } })
      }),
  }

  it.each(Object.entries(ways))('does not free the key: %s', async (_, way) => {
    const { ledger, pool } = await import('./recipes/postgres-shop.ts')
    const key = randomUUID()
    const handler = ledger.protect((_request, { effect }) => way(effect, pool))
    await expect(handler(order(key, 1))).rejects.toThrow('ended its transaction')
    expect((await ledger.find('account-7', key))?.state).toBe('unknown')
  })
})
