import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { receipt } from './receipt.ts'
import { database, ledger } from './sqlite-shop.ts'

const charges = sqliteTable('charges', { amount: integer().notNull() })
const db = drizzle(database)

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return effect(() => {
    db.insert(charges).values({ amount }).run()
    return receipt(amount)
  })
})
