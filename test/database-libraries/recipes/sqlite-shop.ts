import Database from 'better-sqlite3'
import { createLedger } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { accountOf } from './account.ts'

export const database = new Database(process.env.DATABASE_PATH)
export const ledger = createLedger({ store: sqliteLedger({ database }), scope: accountOf })
