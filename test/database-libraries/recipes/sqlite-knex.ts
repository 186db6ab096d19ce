import knex from 'knex'
import { receipt } from './receipt.ts'
import { ledger } from './sqlite-shop.ts'

const db = knex({ client: 'better-sqlite3', useNullAsDefault: true })

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  const { sql, bindings } = db('charges').insert({ amount }).toSQL().toNative()
  return effect((tx) => {
    tx.prepare(sql).run(...bindings)
    return receipt(amount)
  })
})
