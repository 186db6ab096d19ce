import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../../../src/index.ts'
import { sqliteJournal } from '../../../src/sqlite/index.ts'

export interface JournalFile {
  readonly path: string
  readonly database: Database.Database
  /** On this file; each request is answered by `answer`. */
  client(answer: () => Response | Promise<Response>, options?: ClientOptions): Client
}

/** Files in a folder that goes after each test. To be called at the top of a file. */
export function journalFiles(): { newPath(): string; newJournal(): JournalFile } {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  const newPath = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'operations.db')
  }
  const newJournal = (): JournalFile => {
    const path = newPath()
    const database = new Database(path)
    database.pragma('journal_mode = WAL')
    ends.push(() => database.close())
    return {
      path,
      database,
      client: (answer, options) => {
        const journal = sqliteJournal({ database, durability: 'process' })
        const fetch = async (): Promise<Response> => answer()
        const client = createClient({ baseUrl: 'https://api.test', retry: false, ...options, journal, fetch })
        ends.push(() => client.close())
        return client
      },
    }
  }
  return { newPath, newJournal }
}

export const refused = (): Promise<Response> =>
  Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }))

/** Leaves one operation in each of these states, oldest first: succeeded, rejected, failed, pending. */
export async function fill(
  file: JournalFile,
): Promise<Readonly<Record<'done' | 'rejected' | 'failed' | 'kept', string>>> {
  const works = file.client(() => Response.json({ charge: 7 }, { status: 201 }))
  const done = works.post('/charges', {
    json: { amount: 5 },
    id: 'order:1',
    metadata: { note: 'sk_live_1', password: 'geheim', user: 9 },
  })
  await done
  const refuses = file.client(() => Response.json({ no: true }, { status: 400 }))
  const rejected = refuses.post('/charges', { json: { amount: -5 }, id: 'order:2' })
  await rejected.catch(() => {})
  const breaks = file.client(refused, { honoursKeys: true })
  const failed = breaks.post('/charges?customer=9', { json: { amount: 6 }, id: 'order:3', name: 'charge' })
  await failed.catch(() => {})
  const kept = breaks.post('/charges', { json: { amount: 7 }, id: 'order:4', name: 'charge', onGiveUp: 'keep' })
  await kept.catch(() => {})
  return { done: done.key, rejected: rejected.key, failed: failed.key, kept: kept.key }
}
