import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { expectSameAsMemory } from '../../../../support/same-as-memory.ts'

it('answers whatever it is asked as the journal in memory does', async () => {
  const open = async (): Promise<ReturnType<typeof sqliteJournal>> => {
    const journal = sqliteJournal({ database: new Database(':memory:') })
    await journal.open()
    return journal
  }
  await expect(expectSameAsMemory(open, 'gaps')).resolves.toBeUndefined()
}, 60_000)
