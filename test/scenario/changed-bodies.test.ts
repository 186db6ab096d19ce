import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { aesGcm, type ClientOptions, type Encryption, KeyReuseError, StorageError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { LEASE_MS, neighbourhood, outcome } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

const KEY = new Uint8Array(32).fill(7)
const NEW_KEY = new Uint8Array(32).fill(8)

/** As `aesGcm` was before bodies were bound to their records and fingerprints were keyed. */
function earlierAesGcm(): Encryption {
  const { seal, open } = aesGcm(KEY)
  return { seal, open }
}

/** Two pending operations in a file, and a way to change it. */
async function twoPending(
  options: ClientOptions,
  [alices, bobs]: readonly [string, string] = ['/alice/credit', '/bob/credit'],
) {
  const path = join(temporaryFolder(), 'a.db')
  const journal = sqliteJournal({ path, durability: 'process' })
  afterwards(() => journal.close())
  const place = neighbourhood(journal)
  const client = place.client({ onGiveUp: 'keep', retry: false, ...options })
  place.server.weather = () => ({ fault: 'refused' })
  await outcome(client.post(alices, { body: '{"amount":1}', id: 'alice' }))
  await outcome(client.post(bobs, { body: '{"amount":1000000}', id: 'bob' }))
  place.server.weather = () => 'fine'
  const file = new Database(path)
  afterwards(() => file.close())
  const sent = place.server.calls.length
  const bodies = (): string[] => place.server.calls.slice(sent).map(({ text }) => text)
  const setAside = (): unknown[] =>
    file.prepare('SELECT id FROM holdfast_operations WHERE set_aside = 1 ORDER BY id').pluck().all()
  return { place, file, bodies, setAside }
}

type Pending = Awaited<ReturnType<typeof twoPending>>

/** Nothing of these bytes is ever sent, by any way that an operation can be asked for. */
async function expectNotSent({ place, bodies }: Pending, options: ClientOptions, id: string): Promise<void> {
  const client = place.client(options)
  for (const made of [outcome(client.retry(id)), outcome(client.operation(id))]) {
    const { error } = await made
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'unknown' })
  }
  await place.clock.advance(LEASE_MS * 2)
  await client.resume()
  await place.clock.advance(LEASE_MS * 2)
  await client.resume()
  expect(bodies()).toEqual(id === 'bob' ? ['{"amount":1}'] : ['{"amount":1000000}'])
}

describe('a body that is not the one that was accepted', () => {
  it('is set aside, and never sent', async () => {
    const pending = await twoPending({})
    pending.file.prepare("UPDATE holdfast_operations SET body = ? WHERE id = 'alice'").run(Buffer.from('{"amount":9}'))
    await expectNotSent(pending, {}, 'alice')
    expect(pending.setAside()).toEqual(['alice'])
  })

  it('is missed where it is gone', async () => {
    const pending = await twoPending({})
    pending.file.prepare("UPDATE holdfast_operations SET body = NULL WHERE id = 'alice'").run()
    await expectNotSent(pending, {}, 'alice')
    expect(pending.setAside()).toEqual(['alice'])
  })

  it('is noticed under another URL of the same origin, too', async () => {
    const pending = await twoPending({})
    pending.file
      .prepare("UPDATE holdfast_operations SET head = replace(head, '/alice/', '/mallory/') WHERE id = 'alice'")
      .run()
    await expectNotSent(pending, {}, 'alice')
    expect(pending.setAside()).toEqual(['alice'])
  })

  for (const [what, encryption] of [
    ['aesGcm', aesGcm(KEY)],
    ['an encryption without secrets for fingerprints', earlierAesGcm()],
  ] as const) {
    it(`is not opened if ${what} has sealed it for another operation, even with its fingerprint`, async () => {
      // To the same URL: only the place that it was sealed for tells the two apart.
      const pending = await twoPending({ encryption }, ['/credit', '/credit'])
      pending.file.exec(
        `UPDATE holdfast_operations SET body = (SELECT body FROM holdfast_operations WHERE id = 'bob'),
          head = json_set(head, '$.fingerprint',
            (SELECT json_extract(head, '$.fingerprint') FROM holdfast_operations WHERE id = 'bob'))
         WHERE id = 'alice'`,
      )
      await expectNotSent(pending, { encryption }, 'alice')
      expect(pending.setAside()).toEqual(['alice'])
    })
  }

  it('is left as it is if the client has no encryption, or another key', async () => {
    const pending = await twoPending({ encryption: aesGcm(KEY) })
    for (const encryption of [undefined, aesGcm(NEW_KEY)]) {
      const client = pending.place.client({ encryption })
      expect(await client.resume()).toMatchObject({ claimed: 0 })
      expect((await outcome(client.retry('alice'))).error).toBeInstanceOf(StorageError)
      await pending.place.clock.advance(LEASE_MS * 2)
    }
    expect(pending.setAside()).toEqual([])
    expect(pending.bodies()).toEqual([])
    expect(await pending.place.client({ encryption: aesGcm(KEY) }).resume()).toMatchObject({ succeeded: 2 })
  })

  it('is left as it is if an earlier build may have sealed it', async () => {
    const pending = await twoPending({})
    const sealed = Buffer.from(await aesGcm(KEY).seal(new TextEncoder().encode('{"amount":1}')))
    pending.file
      .prepare("UPDATE holdfast_operations SET body = ?, head = json_remove(head, '$.bodies') WHERE id = 'alice'")
      .run(sealed)
    await expectNotSent(pending, {}, 'alice')
    expect(pending.setAside()).toEqual([])
    await pending.place.clock.advance(LEASE_MS * 2)
    const client = pending.place.client({ encryption: aesGcm(KEY) })
    expect((await client.retry('alice')).status).toBe(201)
  })
})

describe('the fingerprint beside a sealed body', () => {
  const fingerprint = ({ file }: Pending): unknown =>
    file.prepare("SELECT json_extract(head, '$.fingerprint') FROM holdfast_operations WHERE id = 'alice'").pluck().get()

  it('does not let anybody guess the body', async () => {
    const plain = await twoPending({})
    const sealed = await twoPending({ encryption: aesGcm(KEY) })
    const other = await twoPending({ encryption: aesGcm(NEW_KEY) })
    expect(new Set([plain, sealed, other].map(fingerprint)).size).toBe(3)
    expect(fingerprint(plain)).toMatch(/^[\da-f]{64}$/)
  })

  const rotated = aesGcm(NEW_KEY, { also: [KEY] })
  for (const [what, before, after] of [
    ['with an older key', aesGcm(KEY), rotated],
    ['by an earlier build', earlierAesGcm(), aesGcm(KEY)],
  ] as const) {
    it(`that was made ${what} is known by the request, while it waits and after it`, async () => {
      const pending = await twoPending({ encryption: before })
      const client = pending.place.client({ encryption: after })
      const again = { body: '{"amount":1}', id: 'alice' }
      expect((await outcome(client.post('/alice/credit', { ...again, body: 'other' }))).error).toBeInstanceOf(
        KeyReuseError,
      )
      expect(await client.resume()).toMatchObject({ succeeded: 2 })
      expect((await client.post('/alice/credit', again)).status).toBe(201)
      expect(pending.bodies()).toEqual(['{"amount":1}', '{"amount":1000000}'])
    })

    it(`that was made ${what} is known once the body is gone`, async () => {
      const pending = await twoPending({ encryption: before })
      await pending.place.client({ encryption: before }).resume()
      pending.file.exec('UPDATE holdfast_operations SET body = NULL')
      const client = pending.place.client({ encryption: after })
      const again = { body: '{"amount":1}', id: 'alice' }
      expect((await client.post('/alice/credit', again)).status).toBe(201)
      expect((await outcome(client.post('/alice/credit', { ...again, body: 'other' }))).error).toBeInstanceOf(
        KeyReuseError,
      )
      expect(pending.bodies()).toHaveLength(2)
    })
  }
})
