import type { Journal } from '../../client/journal/port.ts'
import { runBatch } from '../../client/journal/sqlite/sqlite-commands.ts'
import type { SqliteDatabase } from '../../sql/sqlite-driver.ts'
import { storageFailure } from '../../sql/sqlite-failure.ts'

/** The journal on a connection that can't write. Its tables have to be there. */
export function readOnlyJournal(database: SqliteDatabase): Journal {
  return {
    level: 'process',
    open: async () => {},
    execute: async (commands) => {
      try {
        return runBatch(database, commands)
      } catch (error) {
        throw storageFailure(error, `The journal ${database.name}`)
      }
    },
    close: async () => {},
  }
}
