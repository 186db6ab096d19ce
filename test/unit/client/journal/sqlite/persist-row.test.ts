import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { type SqliteJournalOptions, sqliteJournal } from '../../../../../src/sqlite/index.ts'
import { append, claimCommand, list, row } from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { later, scratchFolder } from './scratch.ts'

function database(path = join(scratchFolder(), 'a.db')): Database.Database {
  const handle = new Database(path)
  later(() => handle.close())
  handle.exec('CREATE TABLE IF NOT EXISTS orders (id TEXT)')
  return handle
}

function journalOn(options: SqliteJournalOptions) {
  const journal = sqliteJournal(options)
  later(() => journal.close())
  return {
    ...journal,
    open: () => journal.open(),
    execute: journal.execute.bind(journal),
    persistIn: journal.persistIn?.bind(journal),
  }
}

describe('a row in the transaction of the caller', () => {
  it('comes with the commit and goes with the rollback', async () => {
    const db = database()
    const journal = journalOn({ database: db })
    await journal.open()
    db.transaction(() => {
      db.exec("INSERT INTO orders VALUES ('1')")
      journal.persistIn?.(db, row('kept', { body: new Uint8Array(9000) }))
    })()
    const failing = db.transaction(() => {
      journal.persistIn?.(db, row('gone'))
      throw new Error('changed my mind')
    })
    expect(failing).toThrow('changed my mind')
    expect(await journal.execute([claimCommand()])).toMatchObject([[{ key: 'kept', body: new Uint8Array(9000) }]])
  })

  it('may be written by another handle of the same file, also before the journal was opened', async () => {
    const path = join(scratchFolder(), 'a.db')
    const db = database(path)
    const journal = journalOn({ path })
    db.transaction(() => journal.persistIn?.(db, row('a')))()
    await journal.open()
    db.transaction(() => journal.persistIn?.(db, row('b')))()
    expect(await journal.execute([list()])).toMatchObject([[{ key: 'a' }, { key: 'b' }]])
  })

  it('is refused where its key or id is taken, and the transaction may go on', async () => {
    const db = database()
    const journal = journalOn({ database: db })
    await journal.open()
    await journal.execute([append('a', { id: 'one' })])
    db.transaction(() => {
      const reused = { name: 'KeyReuseError', effect: 'none' }
      expect(() => journal.persistIn?.(db, row('a'))).toThrow(expect.objectContaining(reused))
      expect(() => journal.persistIn?.(db, row('b', { id: 'one' }))).toThrow(/id one/)
      db.exec("INSERT INTO orders VALUES ('1')")
    })()
    expect(db.prepare('SELECT * FROM orders').all()).toHaveLength(1)
  })

  it('is refused outside a transaction, without a handle, and in another file', async () => {
    const db = database()
    const journal = journalOn({ database: db })
    await journal.open()
    const other = database()
    const refused = (transaction: unknown, sentence: RegExp) => {
      expect(() => journal.persistIn?.(transaction, row('a'))).toThrow(sentence)
    }
    refused(db, /outside a transaction/)
    refused(undefined, /takes the better-sqlite3 database/)
    refused({}, /takes the better-sqlite3 database/)
    other.transaction(() => refused(other, /same file/))()
    expect(await journal.execute([list()])).toEqual([[]])
  })

  it('is never mixed with the writes of the journal itself, which wait for the end of the transaction', async () => {
    const db = database()
    const journal = journalOn({ database: db })
    await journal.open()
    db.exec("BEGIN; INSERT INTO orders VALUES ('1')")
    let written = false
    const batch = journal.execute([append('a')]).then(() => {
      written = true
    })
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(written).toBe(false)
    db.exec('ROLLBACK')
    await batch
    expect(await journal.execute([list()])).toMatchObject([[{ key: 'a' }]])
    expect(db.prepare('SELECT * FROM orders').all()).toEqual([])
  })

  it('gives up on a transaction that stays open for five seconds', async () => {
    const db = database()
    const journal = journalOn({ database: db })
    await journal.open()
    db.exec('BEGIN')
    await expect(journal.execute([append('a')])).rejects.toMatchObject({
      message: expect.stringMatching(/transaction/),
    })
    db.exec('ROLLBACK')
  }, 20_000)

  it("leaves the caller's settings as they were", async () => {
    const db = database()
    db.pragma('busy_timeout = 1234')
    db.pragma('journal_mode = TRUNCATE')
    const journal = journalOn({ database: db, durability: 'process' })
    db.pragma('synchronous = 0')
    await journal.open()
    await journal.execute([append('a')])
    const settings = ['busy_timeout', 'journal_mode', 'synchronous', 'user_version'].map((name) =>
      db.pragma(name, { simple: true }),
    )
    expect(settings).toEqual([1234, 'truncate', 0, 0])
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").pluck().all()
    expect(tables.filter((name) => !String(name).startsWith('holdfast_'))).toEqual(['orders'])
  })

  it('waits for a query that the caller is still walking through', async () => {
    const db = database()
    db.exec("INSERT INTO orders VALUES ('1'), ('2')")
    const journal = journalOn({ database: db })
    await journal.open()
    const walk = db.prepare('SELECT * FROM orders').iterate()
    walk.next()
    const batch = journal.execute([append('a')])
    await new Promise((resolve) => setTimeout(resolve, 30))
    walk.return?.()
    expect(await batch).toEqual([{ appended: true }])
  })
})
