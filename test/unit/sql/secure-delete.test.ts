import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { emptyWriteAheadLog } from '../../../src/sql/secure-delete.ts'
import { isBusy, storageFailure } from '../../../src/sql/sqlite-failure.ts'
import { afterwards, temporaryFolder } from '../../support/shared-folder.ts'

it('a write-ahead log that another connection reads is not emptied, and the failure says that the rows are deleted', () => {
  const path = join(temporaryFolder(), 'database.db')
  const [writer, reader] = [new Database(path, { timeout: 0 }), new Database(path)]
  afterwards(() => [writer.close(), reader.close()])
  writer.pragma('journal_mode = WAL')
  writer.exec('CREATE TABLE rows (id INTEGER); INSERT INTO rows VALUES (1)')
  reader.exec('BEGIN; SELECT * FROM rows')
  writer.exec('DELETE FROM rows')
  let failure: unknown
  try {
    emptyWriteAheadLog(writer)
  } catch (error) {
    failure = error
  }
  expect(isBusy(failure)).toBe(true)
  expect(storageFailure(failure, 'The ledger')).toMatchObject({
    effect: 'unknown',
    message: expect.stringMatching(/^The ledger has deleted the rows, but its write-ahead log still has them/),
  })
  reader.exec('COMMIT')
  emptyWriteAheadLog(writer)
  expect(statSync(`${path}-wal`).size).toBe(0)
})
