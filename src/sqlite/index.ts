export {
  type SqliteFileOptions,
  type SqliteHandleOptions,
  type SqliteJournalOptions,
  sqliteJournal,
} from '../client/journal/sqlite/sqlite-journal.ts'
export type { SqliteDatabase, SqliteStatement } from '../sql/sqlite-driver.ts'
export type { SqliteDurability } from '../sql/sqlite-open.ts'
