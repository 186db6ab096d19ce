import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, StorageError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { LEASE_MS, listed, neighbourhood, outcome } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** Three pending operations in a file, and a way to tamper with it. */
async function threePending(lane?: string) {
  const path = join(temporaryFolder(), 'a.db')
  const journal = sqliteJournal({ path, durability: 'process' })
  afterwards(() => journal.close())
  const place = neighbourhood(journal)
  const client = place.client({ onGiveUp: 'keep', retry: false })
  place.server.weather = () => ({ fault: 'refused' })
  const calls: Promise<unknown>[] = []
  for (const id of ['a', 'b', 'c']) {
    const call = client.post('/charges', { body: id, id, lane, deadline: 100 })
    calls.push(outcome(call))
    await call.accepted
  }
  await place.clock.advance(200)
  await Promise.all(calls)
  place.server.weather = () => 'fine'
  const database = new Database(path)
  afterwards(() => database.close())
  const tamper = (column: string, value: unknown): void => {
    database.prepare(`UPDATE holdfast_operations SET ${column} = ? WHERE id = 'b'`).run(value)
  }
  const head = (): Record<string, unknown> =>
    JSON.parse((database.prepare("SELECT head FROM holdfast_operations WHERE id = 'b'").get() as { head: string }).head)
  return { place, tamper, head, database }
}

describe('a corrupt record', () => {
  const damages: [string, (head: Record<string, unknown>) => string][] = [
    ['is not JSON', () => '{"method":"POST"'],
    ['is empty', () => ''],
    ['is null', () => 'null'],
    ['is a list', () => '[]'],
    ['lacks its URL', ({ url: _, ...rest }) => JSON.stringify(rest)],
    [
      'has a URL of another origin than its row',
      (head) => JSON.stringify({ ...head, url: 'http://127.0.0.1:9/steal' }),
    ],
    ['has a URL that is none', (head) => JSON.stringify({ ...head, url: 'nowhere' })],
    ['has headers that are none', (head) => JSON.stringify({ ...head, headers: [7] })],
    ['has a method with a line break', (head) => JSON.stringify({ ...head, method: 'POST\r\nX: y' })],
    ['has an effect that is none', (head) => JSON.stringify({ ...head, effect: 'perhaps' })],
    ['counts attempts in words', (head) => JSON.stringify({ ...head, attemptCount: 'many' })],
    ['lacks its counters', ({ deaths: _, fruitlessRuns: __, ...rest }) => JSON.stringify(rest)],
    ['has an answer that is none', (head) => JSON.stringify({ ...head, response: { status: 'ok' } })],
  ]
  for (const [what, damage] of damages) {
    it(`whose head ${what} is set aside and reported, and the others go on`, async () => {
      const { place, tamper, head, database } = await threePending()
      const key = (database.prepare("SELECT key FROM holdfast_operations WHERE id = 'b'").get() as { key: string }).key
      tamper('head', damage(head()))
      const client = place.client()
      const before = place.server.calls.length
      expect(await client.resume({ concurrency: 1 })).toMatchObject({ claimed: 2, succeeded: 2 })
      expect(place.server.calls.slice(before).map((call) => call.text)).toEqual(['a', 'c'])
      const failed = client.events.filter((event) => event.type === 'journal.failed')
      expect(failed).toMatchObject([{ key, error: { name: 'StorageError', code: 'HOLDFAST_RECORD_CORRUPT' } }])
      await place.clock.advance(LEASE_MS * 2)
      expect(await client.resume()).toMatchObject({ claimed: 0 })
      const row = database.prepare("SELECT set_aside FROM holdfast_operations WHERE id = 'b'").get()
      expect(row).toEqual({ set_aside: 1 })
    })
  }

  it('holds none of those that were claimed with it, also if it could not be set aside', async () => {
    const { place, tamper, database } = await threePending()
    tamper('head', '{')
    database.exec(`CREATE TRIGGER full BEFORE UPDATE OF set_aside ON holdfast_operations
      WHEN NEW.set_aside = 1 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    const client = place.client()
    expect(await client.resume({ concurrency: 3 })).toMatchObject({ claimed: 2, succeeded: 2 })
    const failed = client.events.filter((event) => event.type === 'journal.failed')
    expect(failed.map(({ error }) => String(error))).toContainEqual(expect.stringContaining('the disk is full'))
  })

  it('whose row has the origin of a bank, and its URL another, gets no credentials of the bank', async () => {
    const { place, tamper } = await threePending()
    tamper('origin', 'https://bank.test')
    const client = place.client({ baseUrl: 'https://bank.test', headers: { authorization: 'Bearer of-the-bank' } })
    const before = place.server.calls.length
    await client.resume()
    expect(place.server.calls.slice(before)).toEqual([])
    const failed = client.events.filter((event) => event.type === 'journal.failed')
    expect(failed).toMatchObject([{ error: { code: 'HOLDFAST_RECORD_CORRUPT' } }])
  })

  it('whose status is none is reported to whoever sees it, and not sent', async () => {
    const { place, tamper } = await threePending()
    tamper('status', 'banana')
    const client = place.client()
    expect(await listed(client)).toHaveLength(2)
    const corrupt = { code: 'HOLDFAST_RECORD_CORRUPT' }
    const failed = client.events.filter((event) => event.type === 'journal.failed')
    expect(failed).toMatchObject([{ error: corrupt }])
    for (const made of [client.retry('b'), client.post('/charges', { body: 'b', id: 'b' })]) {
      expect((await outcome(made)).error).toMatchObject(corrupt)
    }
    tamper('delivery_due', 1)
    client.onSettled('*', () => {})
    expect(await client.resume()).toMatchObject({ claimed: 2, succeeded: 2 })
    tamper('status', 'pending')
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })

  it('holds its lane until it is dropped', async () => {
    const { place, tamper, database } = await threePending('account:1')
    tamper('head', '{')
    const client = place.client()
    const before = place.server.calls.length
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await place.clock.advance(LEASE_MS * 2)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(place.server.calls.slice(before).map((call) => call.text)).toEqual(['a'])
    database.prepare("DELETE FROM holdfast_operations WHERE id = 'b'").run()
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('is a clear error by id, sends nothing, and does not spoil the list', async () => {
    const { place, tamper } = await threePending()
    tamper('head', '{')
    const client = place.client()
    const before = place.server.calls.length
    for (const made of [
      outcome(client.operation('b')),
      outcome(client.retry('b')),
      outcome(client.post('/charges', { body: 'b', id: 'b' })),
      outcome(client.cancel('b')),
    ]) {
      const { error } = await made
      expect(error).toBeInstanceOf(StorageError)
      expect(error).toMatchObject({ code: 'HOLDFAST_RECORD_CORRUPT', effect: 'unknown' })
    }
    expect(place.server.calls).toHaveLength(before)
    expect(await listed(client)).toHaveLength(2)
  })
})

describe('a record of a newer version', () => {
  it('is left alone, with a clear error for whoever asks for it', async () => {
    const { place, tamper, database } = await threePending()
    tamper('version', 3)
    const before = database.prepare("SELECT * FROM holdfast_operations WHERE id = 'b'").get()
    const client = place.client()
    expect(await client.resume()).toMatchObject({ claimed: 2, succeeded: 2 })
    for (const made of [outcome(client.operation('b')), outcome(client.post('/charges', { body: 'b', id: 'b' }))]) {
      const { error } = await made
      expect(error).toBeInstanceOf(StorageError)
      expect(error).toMatchObject({ code: 'HOLDFAST_RECORD_NEWER', effect: 'unknown' })
      expect(error?.message).toMatch(/version 3/)
    }
    expect(await listed(client)).toHaveLength(2)
    expect(database.prepare("SELECT * FROM holdfast_operations WHERE id = 'b'").get()).toEqual(before)
    expect(totalEffects(place.server)).toBe(2)
  })
})

describe('a journal that cannot open', () => {
  const given = process.env.HOLDFAST_DB
  beforeEach(() => {
    const file = join(temporaryFolder(), 'not-a-database')
    writeFileSync(file, 'this is no database, however long one reads it '.repeat(100))
    process.env.HOLDFAST_DB = file
  })
  afterEach(() => {
    if (given === undefined) delete process.env.HOLDFAST_DB
    else process.env.HOLDFAST_DB = given
  })

  it('is a StorageError, and nothing is sent', async () => {
    const { server } = neighbourhood()
    const client = createClient({ fetch: server.fetch })
    const handle = client.post('http://127.0.0.1:1/charges', { body: 'one' })
    const { error } = await outcome(handle)
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'none', pending: false })
    await expect(handle.accepted).rejects.toBeInstanceOf(StorageError)
    await expect(client.resume()).rejects.toBeInstanceOf(StorageError)
    expect(server.calls).toHaveLength(0)
    await client.close()
  })

  it('is replaced by memory where that was said, and acceptance says so', async () => {
    const { server } = neighbourhood()
    const client = createClient({ fetch: server.fetch, journal: { fallback: 'memory' } })
    const handle = client.post('http://127.0.0.1:1/charges', { body: 'one', id: 'order:1' })
    expect(await handle.accepted).toBe('memory')
    expect((await handle).status).toBe(201)
    expect((await client.operation('order:1'))?.status).toBe('succeeded')
    const prepared = await client.prepare('POST', 'http://127.0.0.1:1/charges', { body: 'two' })
    expect(() => prepared.persist({})).toThrow(StorageError)
    await client.close()
  })
})
