import { Kysely, SqliteDialect } from 'kysely'
import { receipt } from './receipt.ts'
import { database, ledger } from './sqlite-shop.ts'

interface Tables {
  charges: { amount: number }
}
const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  const { sql, parameters } = db.insertInto('charges').values({ amount }).compile()
  return effect((tx) => {
    tx.prepare(sql).run(...parameters)
    return receipt(amount)
  })
})

export const chargeInTransaction = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return db.transaction().execute((tx) => {
    const { sql, parameters } = tx.insertInto('charges').values({ amount }).compile()
    const work = () => {
      database.prepare(sql).run(...parameters)
      return receipt(amount)
    }
    return effect(work, { transaction: database })
  })
})
