import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'
import { ledger, pool } from './postgres-shop.ts'
import { receipt } from './receipt.ts'

const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })

export const chargeInTransaction = ledger.protect(async (request, { effect }) => {
  const { amount } = await request.json()
  return prisma.$transaction((tx) => {
    const work = async () => {
      await tx.charge.create({ data: { amount } })
      return receipt(amount)
    }
    return effect(work, {
      transaction: { query: async (text) => ({ rows: await tx.$queryRawUnsafe<unknown[]>(text) }) },
    })
  })
})
