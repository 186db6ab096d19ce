export {
  migratePostgresJournal,
  type PostgresJournalOptions,
  postgresJournal,
} from '../client/journal/postgres/postgres-journal.ts'
export type { PostgresClient, PostgresPool } from '../sql/postgres-driver.ts'
