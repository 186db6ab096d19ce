import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aesGcm, ConfigurationError, StorageError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { listed, neighbourhood, outcome } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

const KEY = new Uint8Array(32).fill(7)
const OTHER_KEY = new Uint8Array(32).fill(8)

/** Everything that is on disk. */
function onDisk(folder: string): string {
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'latin1'))
    .join('')
}

describe('encryption at rest', () => {
  it('seals the bodies of requests and of answers: no byte of them is in the file', async () => {
    const folder = temporaryFolder()
    const journal = sqliteJournal({ path: join(folder, 'a.db') })
    afterwards(() => journal.close())
    const place = neighbourhood(journal)
    place.server.weather = (_, n) => (n === 1 ? { status: 503 } : { status: 200, body: 'secret answer' })
    const client = place.client({ encryption: aesGcm(KEY), retry: false, onGiveUp: 'keep' })
    await outcome(client.post('/charges', { body: `secret request ${'x'.repeat(9000)}`, id: 'order:1' }))
    expect(onDisk(folder)).toContain('order:1')
    expect(onDisk(folder)).not.toContain('secret')
    expect(
      await place
        .client({ encryption: aesGcm(KEY) })
        .retry('order:1')
        .text(),
    ).toBe('secret answer')
    expect(onDisk(folder)).not.toContain('secret')
    expect(place.server.calls.map((call) => call.text.slice(0, 14))).toEqual(['secret request', 'secret request'])
    const again = place.client({ encryption: aesGcm(KEY) })
    expect(await (await again.operation('order:1'))?.result.text()).toBe('secret answer')
    const plain = place.client({ retry: false, onGiveUp: 'keep' })
    await outcome(plain.post('/charges', { body: 'open words', id: 'order:2' }))
    expect(onDisk(folder)).toContain('open words')
  })

  for (const [who, encryption] of [
    ['without the key', {}],
    ['with another key', { encryption: aesGcm(OTHER_KEY) }],
  ] as const) {
    it(`lets a client ${who} cancel what is pending, and take what has failed out of its lane`, async () => {
      const place = neighbourhood()
      place.server.weather = () => ({ status: 503 })
      const right = place.client({ encryption: aesGcm(KEY), retry: false })
      await outcome(right.post('/charges', { body: 'one', id: 'order:1', onGiveUp: 'keep', lane: 'a' }))
      place.server.weather = () => ({ fault: 'refused' })
      await outcome(right.post('/charges', { body: 'one', id: 'order:2', lane: 'b' }))
      const other = place.client(encryption)
      expect(await other.cancel('order:1')).toBe(true)
      expect(await other.cancel('order:2')).toBe(true)
      expect((await right.operation('order:1'))?.status).toBe('cancelled')
      place.server.weather = () => 'fine'
      for (const lane of ['a', 'b']) await right.post('/charges', { body: 'two', lane })
      expect((await right.retry('order:1')).status).toBe(201)
      expect(place.server.calls.map(({ text }) => text)).toEqual(['one', 'one', 'two', 'two', 'one'])
    })
  }

  it('with the wrong key is a clear error, and the record is not lost', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const right = place.client({ encryption: aesGcm(KEY), retry: false, onGiveUp: 'keep' })
    const call = { body: 'one', id: 'order:1' }
    await outcome(right.post('/charges', call))
    place.server.weather = () => 'fine'
    const wrong = place.client({ encryption: aesGcm(OTHER_KEY) })
    for (const made of [
      outcome(wrong.operation('order:1')),
      outcome(wrong.retry('order:1')),
      outcome(wrong.post('/charges', call)),
    ]) {
      const { error } = await made
      expect(error).toBeInstanceOf(StorageError)
      expect(error).toMatchObject({ effect: 'unknown' })
    }
    expect(await wrong.resume()).toMatchObject({ claimed: 0 })
    // One tells of the call, one of the first look at what is pending, one of the resume.
    expect(wrong.events.filter((event) => event.type === 'journal.failed')).toHaveLength(3)
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(60_000)
    expect(await right.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(await listed(right)).toHaveLength(1)
  })

  it('that is forgotten once does not destroy what was sealed', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const sealed = place.client({ encryption: aesGcm(KEY), retry: false, onGiveUp: 'keep' })
    await outcome(sealed.post('/charges', { body: 'one', id: 'order:1' }))
    place.server.weather = () => 'fine'
    expect((await sealed.retry('order:1')).status).toBe(201)
    expect(place.server.calls[1]?.text).toBe('one')
  })

  it('that cannot seal sends nothing', async () => {
    const place = neighbourhood()
    const encryption = {
      seal: () => {
        throw new Error('the key store is away')
      },
      open: (bytes: Uint8Array) => bytes,
    }
    const { error } = await outcome(place.client({ encryption }).post('/charges', { body: 'one' }))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'none', pending: false })
    expect(place.server.calls).toHaveLength(0)
  })

  it('takes keys of 16, 24 and 32 bytes and CryptoKeys, and no others', async () => {
    const bytes = new TextEncoder().encode('words')
    const imported = await crypto.subtle.importKey('raw', KEY, 'AES-GCM', false, ['encrypt', 'decrypt'])
    for (const key of [new Uint8Array(16), new Uint8Array(24), new Uint8Array(32), imported]) {
      const { seal, open } = aesGcm(key)
      const sealed = await seal(bytes)
      expect(sealed).not.toEqual(await seal(bytes))
      expect(await open(sealed)).toEqual(bytes)
      expect(await open(await seal(new Uint8Array()))).toEqual(new Uint8Array())
      sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1
      await expect(open(sealed)).rejects.toBeDefined()
    }
    for (const length of [0, 15, 17, 31, 33, 64]) {
      expect(() => aesGcm(new Uint8Array(length))).toThrow(ConfigurationError)
    }
  })

  it('refuses at once what is no key, without showing it', async () => {
    const usages = ['encrypt', 'decrypt'] as const
    const cbc = await crypto.subtle.importKey('raw', KEY, 'AES-CBC', false, usages)
    const sealOnly = await crypto.subtle.importKey('raw', KEY, 'AES-GCM', false, ['encrypt'])
    for (const key of ['hunter2', undefined, null, {}, 32, [...KEY], KEY.buffer, cbc, sealOnly]) {
      const make = () => aesGcm(key as never)
      expect(make).toThrow(ConfigurationError)
      expect(make).toThrow(/CryptoKey.*16, 24 or 32 bytes/)
      expect(make).not.toThrow(/hunter2/)
    }
  })
})
