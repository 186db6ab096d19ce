import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'
import { createLedger, reply } from '../../src/server/index.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

const SECRET = 'DE89370400440532013000'

function newFile(): string {
  return join(temporaryFolder(), 'database.db')
}

function ownHandle(path: string): Database.Database {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  afterwards(() => database.close())
  return database
}

/** How often the secret is in the file and in its write-ahead log. */
function copies(path: string): number {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file))
  return files.reduce((sum, file) => sum + readFileSync(file, 'latin1').split(SECRET).length - 1, 0)
}

const WAYS = ['a file of its own', "the application's handle"] as const

describe.each(WAYS)('a ledger in %s', (way) => {
  async function filled() {
    const path = newFile()
    const store = sqliteLedger(way === WAYS[0] ? { path } : { database: ownHandle(path) })
    const ledger = createLedger({ store, scope: (request: Request) => request.headers.get('account') ?? '' })
    afterwards(() => ledger.close())
    const handler = ledger.protect(async (request, { effect, key }) => {
      const body = `${request.headers.get('account') === 'leaving' ? SECRET : 'someone else'} ${'.'.repeat(Number(key))}`
      return Number(key) % 2 === 0 ? effect(() => reply(body)) : reply(body)
    })
    for (let at = 0; at < 60; at++) {
      // Some of them are large enough for pages of their own.
      const headers = { account: at % 3 === 0 ? 'staying' : 'leaving', 'idempotency-key': String(at * at * 3) }
      await handler(new Request('http://127.0.0.1/', { method: 'POST', body: '{}', headers }))
    }
    await ledger.once('message', () => SECRET, { scope: 'leaving' })
    expect(copies(path)).toBeGreaterThan(40)
    return { path, ledger }
  }

  it.each(['answers', 'entries'] as const)('has no copy of what was erased (%s), open or closed', async (what) => {
    const { path, ledger } = await filled()
    expect(await ledger.erase('leaving', { what })).toMatchObject({ erased: 41, left: 0 })
    expect(copies(path)).toBe(0)
    await ledger.close()
    expect(copies(path)).toBe(0)
  })
})

describe.each(WAYS)('a journal in %s', (way) => {
  it('has no copy of what was forgotten, open or closed', async () => {
    const path = newFile()
    const database = way === WAYS[0] ? undefined : ownHandle(path)
    const client = createClient({
      baseUrl: 'http://127.0.0.1',
      journal: sqliteJournal(database ? { database } : { path }),
      retry: false,
      onGiveUp: 'keep',
      fetch: async () => Promise.reject(new TypeError('offline')),
    })
    afterwards(() => client.close())
    for (let at = 0; at < 20; at++) {
      const card = `${SECRET} ${'.'.repeat(at * at * 20)}`
      await client.post('/charges', { json: { card } }).catch(() => {})
    }
    expect(copies(path)).toBeGreaterThan(15)
    expect(await client.forget()).toBe(20)
    expect(copies(path)).toBe(0)
    await client.close()
    expect(copies(path)).toBe(0)
  })
})
