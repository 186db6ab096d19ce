import { CompiledQuery, Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely'
import { ledger, pool } from './postgres-shop.ts'
import { receipt } from './receipt.ts'

interface Tables {
  charges: { amount: number }
}
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })

/** Kysely on one client, which it does not give back. */
function kyselyOn(client: Pick<PostgresPoolClient, 'query'>) {
  const connect = async () => ({ query: client.query.bind(client), release: () => {} })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: { connect, end: async () => {} } }) })
}

export const charge = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return effect(async (tx) => {
    await kyselyOn(tx).insertInto('charges').values({ amount }).execute()
    return receipt(amount)
  })
})

export const chargeInTransaction = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return db.transaction().execute((tx) => {
    const work = async () => {
      await tx.insertInto('charges').values({ amount }).execute()
      return receipt(amount)
    }
    return effect(work, { transaction: { query: (text) => tx.executeQuery(CompiledQuery.raw(text)) } })
  })
})
