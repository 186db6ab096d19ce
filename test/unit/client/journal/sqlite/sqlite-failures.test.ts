import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Journal } from '../../../../../src/client/journal/port.ts'
import { WorkerJournal } from '../../../../../src/client/journal/sqlite/worker-journal.ts'
import { WorkerLink } from '../../../../../src/client/journal/sqlite/worker-link.ts'
import { type SqliteJournalOptions, sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { append, claimCommand, list } from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { later, makeReadOnly, Neighbour, scratchFolder, smallDisk } from './scratch.ts'

async function opened(options: SqliteJournalOptions): Promise<Journal> {
  const journal = sqliteJournal(options)
  await journal.open()
  later(() => journal.close())
  return journal
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'StorageError', code: 'HOLDFAST_STORAGE' })
  return error
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

async function writtenFile(): Promise<string> {
  const path = join(scratchFolder(), 'own', 'a.db')
  const journal = sqliteJournal({ path })
  await journal.open()
  await journal.execute([append('a')])
  await journal.close()
  return path
}

const large = new Uint8Array(400_000)

describe('what the SQLite journal says when it cannot work', () => {
  it('a folder in place of the file', async () => {
    const error = await refusal(sqliteJournal({ path: scratchFolder() }).open())
    expect(error).toMatchObject({ message: expect.stringMatching(/is a folder/) })
  })

  it('a file in place of the folder', async () => {
    const path = join(scratchFolder(), 'file')
    writeFileSync(path, '')
    const error = await refusal(sqliteJournal({ path: join(path, 'a.db') }).open())
    expect(error).toMatchObject({ message: expect.stringMatching(/not a folder/) })
  })

  it.runIf(process.platform === 'linux')('a file system that takes no folder', async () => {
    const error = await refusal(sqliteJournal({ path: '/proc/nope/deeper/a.db' }).open())
    expect(error).toMatchObject({ message: expect.stringMatching(/cannot be made there \(ENOENT\)/) })
  })

  it('a file that is no database, which is left as it is', async () => {
    const path = join(scratchFolder(), 'a.db')
    writeFileSync(path, 'dear diary\n'.repeat(1000))
    const before = digest(path)
    const error = await refusal(sqliteJournal({ path }).open())
    expect(error).toMatchObject({
      message: expect.stringMatching(/not a SQLite database/),
      cause: { code: 'SQLITE_NOTADB' },
    })
    expect(digest(path)).toBe(before)
  })

  it('a damaged file', async () => {
    const path = await writtenFile()
    const descriptor = openSync(path, 'r+')
    const size = statSync(path).size
    writeSync(descriptor, Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096)
    closeSync(descriptor)
    const journal = sqliteJournal({ path })
    later(() => journal.close())
    const error = await refusal(journal.open().then(() => journal.execute([append('b')])))
    expect(error).toMatchObject({
      message: expect.stringMatching(/damaged/),
      cause: { code: expect.stringMatching(/^SQLITE_CORRUPT/) },
    })
  })

  it('a read-only file', async () => {
    const path = await writtenFile()
    makeReadOnly(join(path, '..'), path)
    const error = await refusal(sqliteJournal({ path }).open())
    expect(error).toMatchObject({ message: expect.stringMatching(/read-only|accessible/) })
  })

  it('a read-only handle', async () => {
    const database = new Database(await writtenFile(), { readonly: true })
    later(() => database.close())
    const error = await refusal(sqliteJournal({ database }).open())
    expect(error).toMatchObject({ message: expect.stringMatching(/read-only/) })
  })

  it('a handle that is closed, or that cannot roll back', async () => {
    const path = await writtenFile()
    const closed = new Database(path)
    closed.close()
    expect(await refusal(sqliteJournal({ database: closed }).open())).toMatchObject({
      message: expect.stringMatching(/closed/),
    })
    const unsafe = new Database(join(scratchFolder(), 'b.db'))
    later(() => unsafe.close())
    unsafe.pragma('journal_mode = MEMORY')
    expect(await refusal(sqliteJournal({ database: unsafe }).open())).toMatchObject({
      message: expect.stringMatching(/journal_mode/),
    })
  })

  it('a full disk: nothing of the batch is written, and smaller batches go on', async () => {
    const disk = smallDisk()
    const database = new Database(join(scratchFolder(), 'a.db'))
    later(() => database.close())
    database.pragma('max_page_count = 100')
    const options: SqliteJournalOptions[] = [{ database }]
    if (disk !== undefined) options.push({ path: join(disk, 'a.db') })
    for (const option of options) {
      const journal = await opened(option)
      await journal.execute([append('first')])
      const batch = [
        append('a'),
        append('b', { body: large }),
        append('c', { body: large }),
        append('d', { body: large }),
      ]
      expect(await refusal(journal.execute(batch))).toMatchObject({
        message: expect.stringMatching(/disk is full/),
        cause: { code: 'SQLITE_FULL' },
        effect: 'none',
      })
      expect(await journal.execute([list()])).toMatchObject([[{ key: 'first' }]])
      expect(await journal.execute([append('small')])).toEqual([{ appended: true }])
    }
  })

  it('tables of a newer version, which are left as they are', async () => {
    const path = await writtenFile()
    const newer = new Database(path)
    newer.prepare("INSERT INTO holdfast_migrations VALUES ('journal', 99)").run()
    newer.pragma('journal_mode = DELETE')
    newer.close()
    const before = digest(path)
    const says = { message: expect.stringMatching(/version 99.*newer Holdfast/) }
    expect(await refusal(sqliteJournal({ path }).open())).toMatchObject(says)
    const database = new Database(path)
    expect(await refusal(sqliteJournal({ database }).open())).toMatchObject(says)
    database.close()
    expect(digest(path)).toBe(before)
  })

  it('a driver that is not there, with the command that brings it', async () => {
    const link = new WorkerLink({
      driver: '/nowhere/better-sqlite3',
      path: join(scratchFolder(), 'a.db'),
      durability: 'full',
    })
    const error = await refusal(link.ask({ ask: 'open' }))
    expect(error).toMatchObject({ message: expect.stringMatching(/npm install better-sqlite3/) })
    await link.terminate()
  })

  it('something that cannot be sent to another thread, after which it goes on', async () => {
    const journal = await opened({ path: join(scratchFolder(), 'a.db') })
    const odd = append('odd', { head: (() => '') as never })
    const [refused, fine] = await Promise.all([refusal(journal.execute([odd])), journal.execute([append('a')])])
    expect(refused).toMatchObject({ message: expect.stringMatching(/cannot be stored/) })
    expect(fine).toEqual([{ appended: true }])
  })

  it('wrong options, at once', () => {
    const wrong = [{}, { path: '' }, { path: ':memory:' }, { path: 'a', durability: 'some' }, { database: {} }]
    for (const options of [...wrong, { path: 'a', database: new Database(':memory:') }]) {
      expect(() => sqliteJournal(options as never)).toThrow(expect.objectContaining({ code: 'HOLDFAST_CONFIGURATION' }))
    }
  })
})

describe('what the SQLite journal survives', () => {
  it('a log that was cut off in the middle: what was complete before is there', async () => {
    const path = join(scratchFolder(), 'a.db')
    const journal = await opened({ path })
    await journal.execute([append('a')])
    const complete = statSync(`${path}-wal`).size
    await journal.execute([append('b')])
    // The copy is what a crash would leave: no orderly close.
    const copy = join(scratchFolder(), 'b.db')
    writeFileSync(copy, readFileSync(path))
    writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`))
    truncateSync(`${copy}-wal`, complete + 100)
    const after = await opened({ path: copy })
    expect(await after.execute([list(), claimCommand()])).toMatchObject([[{ key: 'a' }], [{ key: 'a' }]])
  })

  it('the death of its worker: the running batch is refused, the next one starts a new worker', async () => {
    const links: WorkerLink[] = []
    const path = join(scratchFolder(), 'a.db')
    const journal = new WorkerJournal({ path, durability: 'full', onStart: (link) => links.push(link) })
    await journal.open()
    const running = refusal(journal.execute([append('a', { body: large })]))
    await links[0]?.terminate()
    expect(await running).toMatchObject({ effect: 'unknown', message: expect.stringMatching(/may or may not/) })
    expect(await journal.execute([append('b')])).toEqual([{ appended: true }])
    expect(links).toHaveLength(2)
    await journal.close()
  })

  it('no more than three deaths of its worker in a row', async () => {
    const links: WorkerLink[] = []
    let deadly = false
    const onStart = (link: WorkerLink): void => {
      links.push(link)
      if (deadly) void link.terminate()
    }
    const journal = new WorkerJournal({ path: join(scratchFolder(), 'a.db'), durability: 'full', onStart })
    await journal.open()
    deadly = true
    await links[0]?.terminate()
    for (const _ of [1, 2, 3]) {
      expect(await refusal(journal.execute([append('a')]))).toMatchObject({ message: expect.stringMatching(/died/) })
    }
    expect(await refusal(journal.execute([append('a')]))).toMatchObject({
      message: expect.stringMatching(/keeps dying/),
    })
    expect(links).toHaveLength(4)
    await journal.close()
  })

  it('the death of a whole process in the middle of a batch: all of it or nothing', async () => {
    const path = await writtenFile()
    const script = `const db = new Database(arg); db.exec("BEGIN IMMEDIATE; DELETE FROM holdfast_operations"); say('half'); setInterval(() => {}, 1000)`
    const other = new Neighbour(script, path)
    await other.line()
    other.process.kill('SIGKILL')
    await other.end()
    const journal = await opened({ path })
    expect(await journal.execute([list()])).toMatchObject([[{ key: 'a' }]])
  })
})
