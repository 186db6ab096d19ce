import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Charging, chargeCases } from './charge-cases.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-recipes-'))

beforeAll(async () => {
  process.env.DATABASE_PATH = join(folder, 'shop.db')
  const { database } = await import('./recipes/sqlite-shop.ts')
  database.exec('create table charges (amount integer not null)')
})

afterAll(async () => {
  ;(await import('./recipes/sqlite-shop.ts')).database.close()
  rmSync(folder, { recursive: true })
})

async function charging(charge: Charging['charge']): Promise<Charging> {
  const { database, ledger } = await import('./recipes/sqlite-shop.ts')
  const count = database.prepare('select count(*) from charges where amount = ?').pluck()
  return {
    charge,
    rows: async (amount) => count.get(amount) as number,
    state: async (key) => (await ledger.find('account-7', key))?.state,
  }
}

describe.each([
  { library: 'Drizzle', recipe: () => import('./recipes/sqlite-drizzle.ts') },
  { library: 'Kysely', recipe: () => import('./recipes/sqlite-kysely.ts') },
  { library: 'Knex', recipe: () => import('./recipes/sqlite-knex.ts') },
])("$library on the ledger's handle", ({ recipe }) => {
  chargeCases(async () => charging((await recipe()).charge))
})

describe('a transaction of Kysely', () => {
  chargeCases(async () => charging((await import('./recipes/sqlite-kysely.ts')).chargeInTransaction))
})
