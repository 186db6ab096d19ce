import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import type { Journal } from '../../../../../src/client/journal/port.ts'
import { journalSchema } from '../../../../../src/client/journal/sqlite/sqlite-schema.ts'
import { sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { append, claimCommand, list } from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { inlineSourceForEsbuild } from '../../../../bundling/inline-source.ts'
import { holdWriteLock, later, longestStall, Neighbour, scratchFolder } from './scratch.ts'

async function opened(journal: Journal): Promise<Journal> {
  await journal.open()
  later(() => journal.close())
  return journal
}

function handleOn(path: string): Database.Database {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  later(() => database.close())
  return database
}

/** Another process that claims everything, ten rows at a time, as fast as it can, and says how many it got. */
const CLAIMER = `
  const db = new Database(arg, { timeout: 5000 });
  const step = db.transaction(() => {
    const rows = db.prepare("SELECT place FROM holdfast_operations WHERE owner IS NULL ORDER BY place LIMIT 10").all();
    for (const { place } of rows) db.prepare("UPDATE holdfast_operations SET owner = 'other', epoch = epoch + 1, lease_until = 9e15 WHERE place = ?").run(place);
    return rows.length;
  });
  say('ready'); let all = 0; for (let got; (got = step.immediate());) all += got; say(String(all));`

describe('the SQLite journal beside other processes', () => {
  it('keeps the event loop running while another process holds the write lock for a second', async () => {
    const path = join(scratchFolder(), 'a.db')
    const onFile = await opened(sqliteJournal({ path }))
    const onHandle = await opened(sqliteJournal({ database: handleOn(path) }))
    for (const journal of [onFile, onHandle]) {
      await holdWriteLock(path, 1000)
      const started = performance.now()
      const key = journal === onFile ? 'file' : 'handle'
      const stall = await longestStall(() => journal.execute([append(key)]))
      expect(performance.now() - started).toBeGreaterThan(500)
      expect(stall).toBeLessThan(200)
    }
    expect(await onFile.execute([list()])).toMatchObject([[{ key: 'file' }, { key: 'handle' }]])
  })

  it('reads while another process holds the write lock', async () => {
    const path = join(scratchFolder(), 'a.db')
    const journal = await opened(sqliteJournal({ path }))
    await journal.execute([append('a')])
    await holdWriteLock(path, 1000)
    const started = performance.now()
    expect(await journal.execute([list()])).toMatchObject([[{ key: 'a' }]])
    expect(performance.now() - started).toBeLessThan(500)
  })

  it('gives up after five seconds with an error that names the lock, and works again afterwards', async () => {
    const path = join(scratchFolder(), 'a.db')
    const onFile = await opened(sqliteJournal({ path }))
    const onHandle = await opened(sqliteJournal({ database: handleOn(path) }))
    const holder = await holdWriteLock(path, 60_000)
    const refused = [onFile, onHandle].map((journal) =>
      expect(journal.execute([append('a')])).rejects.toMatchObject({
        code: 'HOLDFAST_STORAGE',
        effect: 'none',
        message: expect.stringMatching(/locked/),
        cause: { code: 'SQLITE_BUSY' },
      }),
    )
    await Promise.all(refused)
    holder.process.kill('SIGKILL')
    await holder.end()
    expect(await onFile.execute([append('a')])).toEqual([{ appended: true }])
    expect(await onHandle.execute([append('b')])).toEqual([{ appended: true }])
  }, 20_000)

  it('claims 2000 rows together with another process without a single double claim', async () => {
    const path = join(scratchFolder(), 'a.db')
    const journal = await opened(sqliteJournal({ path }))
    await journal.execute(Array.from({ length: 2000 }, (_, at) => append(`k${at}`)))
    const other = new Neighbour(CLAIMER, path)
    await other.line()
    let ours = 0
    for (;;) {
      const [rows] = (await journal.execute([claimCommand({ limit: 10, owner: 'us' })])) as [unknown[]]
      if (rows.length === 0) break
      ours += rows.length
    }
    const theirs = Number(await other.line())
    expect(ours + theirs).toBe(2000)
    const rows = handleOn(path)
      .prepare('SELECT owner, epoch, count(*) AS n FROM holdfast_operations GROUP BY 1, 2')
      .all()
    expect(rows).toEqual(
      [
        { owner: 'other', epoch: 1, n: theirs },
        { owner: 'us', epoch: 1, n: ours },
      ].filter(({ n }) => n > 0),
    )
  })

  it('opens one new file from many connections at once', async () => {
    const path = join(scratchFolder(), 'a.db')
    const journals = Array.from({ length: 6 }, () => sqliteJournal({ path }))
    await Promise.all(journals.map((journal) => journal.open()))
    await Promise.all(journals.map((journal, at) => journal.execute([append(`k${at}`)])))
    expect(handleOn(path).prepare('SELECT key FROM holdfast_operations').all()).toHaveLength(6)
    expect(handleOn(path).prepare('SELECT component, version FROM holdfast_migrations').all()).toHaveLength(
      journalSchema.steps.length,
    )
    await Promise.all(journals.map((journal) => journal.close()))
  })

  it('lets a process end that has opened it, written and waits for nothing', async () => {
    const path = join(scratchFolder(), 'a.db')
    const program = join(scratchFolder(), 'program.mjs')
    const entry = fileURLToPath(new URL('ends-by-itself.ts', import.meta.url))
    const plugins = [inlineSourceForEsbuild()]
    await build({ entryPoints: [entry], outfile: program, bundle: true, format: 'esm', platform: 'node', plugins })
    const neighbour = new Neighbour('import(arg)', program, path)
    expect(await neighbour.line()).toBe('{"appended":true}')
    expect(await neighbour.end()).toBe(0)
    expect(handleOn(path).prepare('SELECT key FROM holdfast_operations').all()).toEqual([{ key: 'a' }, { key: 'b' }])
  })
})
