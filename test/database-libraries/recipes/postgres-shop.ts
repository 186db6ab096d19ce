import pg from 'pg'
import { createLedger } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/postgres/index.ts'
import { accountOf } from './account.ts'

export const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop'
export const pool = new pg.Pool({ connectionString })
export const ledger = createLedger({ store: postgresLedger({ pool }), scope: accountOf })
