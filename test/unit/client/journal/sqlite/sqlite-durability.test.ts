import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { WorkerJournal } from '../../../../../src/client/journal/sqlite/worker-journal.ts'
import { WorkerLink } from '../../../../../src/client/journal/sqlite/worker-link.ts'
import { locateSqliteDriver } from '../../../../../src/sql/load-sqlite-driver.ts'
import { sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { append, read } from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { later, scratchFolder } from './scratch.ts'

async function factsOf(path: string, durability: 'full' | 'process'): Promise<unknown> {
  const link = new WorkerLink({ driver: locateSqliteDriver(), path, durability })
  try {
    return await link.ask({ ask: 'open' })
  } finally {
    await link.terminate()
  }
}

describe('durability of the SQLite journal', () => {
  it('has synchronous = FULL on every connection to a file, the first and the later ones', async () => {
    const path = join(scratchFolder(), 'a.db')
    for (const _ of [1, 2, 3]) {
      expect(await factsOf(path, 'full')).toEqual({ opened: { synchronous: 2, journalMode: 'wal' } })
    }
    expect(await factsOf(path, 'process')).toEqual({ opened: { synchronous: 1, journalMode: 'wal' } })
  })

  it("sets synchronous = FULL on the caller's handle, and again if the caller took it back", async () => {
    const path = join(scratchFolder(), 'a.db')
    new Database(path).exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)').close()
    const database = new Database(path)
    const journal = sqliteJournal({ database })
    await journal.open()
    database.prepare('SELECT * FROM theirs').all()
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    database.pragma('synchronous = OFF')
    await journal.execute([append('a')])
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    database.close()
  })

  it('says which level it reaches', () => {
    const path = join(scratchFolder(), 'a.db')
    expect(sqliteJournal({ path }).level).toBe('power')
    expect(sqliteJournal({ path, durability: 'process' }).level).toBe('process')
    expect(sqliteJournal({ database: new Database(path) }).level).toBe('power')
    expect(sqliteJournal({ database: new Database(':memory:') }).level).toBe('memory')
  })

  it('makes file, log and folder for the eyes of their owner only', async () => {
    const folder = join(scratchFolder(), 'deep', 'er')
    const path = join(folder, 'a.db')
    const journal = sqliteJournal({ path })
    await journal.open()
    await journal.execute([append('a')])
    const modes = [path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    await journal.close()
  })

  it('leaves the mode of a folder and a file that were there before', async () => {
    const folder = join(scratchFolder(), 'shared')
    mkdirSync(folder, { mode: 0o755 })
    const path = join(folder, 'a.db')
    new Database(path).exec('CREATE TABLE theirs (a)').close()
    const before = statSync(path).mode
    const journal = sqliteJournal({ path })
    await journal.open()
    await journal.close()
    expect(statSync(path).mode).toBe(before)
    expect(statSync(folder).mode & 0o777).toBe(0o755)
  })

  it('has an acknowledged write in the file when the worker is ended without a warning', async () => {
    const path = join(scratchFolder(), 'a.db')
    let link: WorkerLink | undefined
    const journal = new WorkerJournal({ path, durability: 'full', onStart: (started) => (link = started) })
    await journal.open()
    await journal.execute([append('a')])
    await link?.terminate()
    const database = new Database(path)
    later(() => database.close())
    expect(database.prepare('SELECT key FROM holdfast_operations').all()).toEqual([{ key: 'a' }])
  })

  it('refuses a batch before it is opened and after it is closed, and can be opened again', async () => {
    for (const journal of [
      sqliteJournal({ path: join(scratchFolder(), 'a.db') }),
      sqliteJournal({ database: new Database(join(scratchFolder(), 'b.db')) }),
    ]) {
      await expect(journal.execute([append('a')])).rejects.toMatchObject({ code: 'HOLDFAST_STORAGE' })
      await Promise.all([journal.open(), journal.open()])
      await journal.execute([append('a')])
      await journal.close()
      await expect(journal.execute([read('a')])).rejects.toMatchObject({ message: expect.stringMatching(/not open/) })
      await journal.open()
      expect(await journal.execute([read('a')])).toMatchObject([{ key: 'a' }])
      await journal.close()
      await journal.close()
    }
  })
})
