import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { neighbourhood, outcome } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'
import { totalEffects } from '../support/shared-model-server.ts'

it('does not take what was sent and then forgotten for a transaction that was rolled back', async () => {
  const db = new Database(join(temporaryFolder(), 'shop.db'))
  afterwards(() => db.close())
  const journal = sqliteJournal({ database: db })
  const place = neighbourhood(journal)
  const client = place.client({ journal })
  const prepared = await client.prepare('POST', '/charges', { json: { amount: 5000 } })
  db.transaction(() => void prepared.persist(db))()
  expect(await client.resume()).toMatchObject({ succeeded: 1 })
  expect(totalEffects(place.server)).toBe(1)
  await client.forget()
  const { error } = await outcome(client.send(prepared))
  expect(error).toMatchObject({ name: 'StorageError', effect: 'unknown' })
  expect(totalEffects(place.server)).toBe(1)
})
