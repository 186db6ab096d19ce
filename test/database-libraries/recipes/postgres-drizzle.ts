import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { PoolClient } from 'pg'
import { ledger, pool } from './postgres-shop.ts'
import { receipt } from './receipt.ts'

const charges = pgTable('charges', { amount: integer().notNull() })
const db = drizzle(pool)

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return effect(async (tx) => {
    const db = drizzle(tx as PoolClient)
    await db.insert(charges).values({ amount })
    return receipt(amount)
  })
})

export const chargeInTransaction = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return db.transaction((tx) => {
    const work = async () => {
      await tx.insert(charges).values({ amount })
      return receipt(amount)
    }
    return effect(work, { transaction: { query: (text) => tx.execute(sql.raw(text)) } })
  })
})
