import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Journal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { neighbourhood, outcome } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

const kinds: Readonly<Record<string, (path: string) => Journal>> = {
  'a path': (path) => sqliteJournal({ path }),
  'a handle': (path) => {
    const database = new Database(path)
    afterwards(() => void database.close())
    database.pragma('journal_mode = WAL')
    return sqliteJournal({ database })
  },
}

describe.each(Object.entries(kinds))('a SQLite journal by %s', (_, open) => {
  async function scene() {
    const path = join(temporaryFolder(), 'a.db')
    const journal = open(path)
    afterwards(() => journal.close())
    const place = neighbourhood(journal)
    const client = place.client()
    await client.post('/charges', { body: 'one' })
    await client.flush()
    return { path, place, client }
  }

  it.each([
    ['deleted', (path: string) => rmSync(path)],
    [
      'replaced',
      (path: string) => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
    ],
    [
      'overwritten with a backup, without its log,',
      (path: string) => {
        new Database(path, { readonly: true }).exec(`VACUUM INTO '${path}.backup'`).close()
        copyFileSync(`${path}.backup`, path)
        for (const log of ['-wal', '-shm']) rmSync(path + log)
      },
    ],
    ['left without its log', (path: string) => rmSync(`${path}-wal`)],
    ['left without the index of its log', (path: string) => rmSync(`${path}-shm`)],
    [
      'given another log',
      (path: string) => {
        copyFileSync(`${path}-wal`, `${path}.copy`)
        renameSync(`${path}.copy`, `${path}-wal`)
      },
    ],
  ])('refuses calls, with an event, if its file was %s under it', async (_what, lose) => {
    const { path, place, client } = await scene()
    lose(path)
    const sent = place.server.calls.length
    for (const body of ['two', 'three']) {
      const { error } = await outcome(client.post('/charges', { body }))
      expect(error).toMatchObject({ name: 'StorageError', effect: 'none', pending: false })
      expect(error?.message).toContain('deleted or replaced')
    }
    expect(place.server.calls).toHaveLength(sent)
    const told = client.events.filter(({ type }) => type === 'journal.failed')
    expect(told[0]).toMatchObject({ error: { name: 'StorageError' } })
  })
})

describe('a SQLite journal on a handle of the application', () => {
  it('goes on if the application itself changes the mode, and with it the log', async () => {
    const path = join(temporaryFolder(), 'a.db')
    const database = new Database(path)
    afterwards(() => void database.close())
    const client = neighbourhood(sqliteJournal({ database })).client()
    for (const mode of ['wal', 'delete', 'wal']) {
      database.pragma(`journal_mode = ${mode}`)
      expect((await client.post('/charges', { body: mode })).status).toBe(201)
      await client.flush()
    }
    rmSync(`${path}-wal`)
    expect((await outcome(client.post('/charges', { body: 'two' }))).error?.message).toContain('deleted or replaced')
  })
})
