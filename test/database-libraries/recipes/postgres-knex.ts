import knex from 'knex'
import { connectionString, ledger } from './postgres-shop.ts'
import { receipt } from './receipt.ts'

export const db = knex({ client: 'pg', connection: connectionString })

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return effect(async (tx) => {
    await db('charges').connection(tx).insert({ amount })
    return receipt(amount)
  })
})

export const chargeInTransaction = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return db.transaction(async (tx) => {
    const work = async () => {
      await tx('charges').insert({ amount })
      return receipt(amount)
    }
    return effect(work, { transaction: await tx.client.acquireConnection() })
  })
})
