import { describe, expect, it } from 'vitest'
import { aesGcm as clientAesGcm } from '../../../src/client/encryption/aes-gcm.ts'
import { ConfigurationError } from '../../../src/errors/classes.ts'
import { aesGcm } from '../../../src/server/index.ts'

const KEY = new Uint8Array(32).fill(1)
const OTHER = new Uint8Array(16).fill(2)
const TEXT = new TextEncoder().encode('{"card":"4242"}')

describe('aesGcm', () => {
  it.each([16, 24, 32])('opens what it has sealed with a key of %s bytes', (length) => {
    const { seal, open } = aesGcm(new Uint8Array(length).fill(7))
    expect(open(seal(TEXT))).toEqual(TEXT)
    expect(open(seal(new Uint8Array()))).toEqual(new Uint8Array())
  })

  it('seals the same bytes differently each time, in 28 bytes more', () => {
    const { seal } = aesGcm(KEY)
    const [one, two] = [seal(TEXT), seal(TEXT)]
    expect([one.length, one]).not.toEqual([TEXT.length + 28, two])
    expect(one.length).toBe(TEXT.length + 28)
  })

  it('has the same format as that of the client', async () => {
    const [server, client] = [aesGcm(KEY), clientAesGcm(KEY)]
    expect(await client.open(server.seal(TEXT))).toEqual(TEXT)
    expect(server.open(await client.seal(TEXT))).toEqual(TEXT)
  })

  it('opens what an older key has sealed, and seals with the new one', () => {
    const [old, rotated] = [aesGcm(OTHER), aesGcm(KEY, { also: [OTHER] })]
    expect(rotated.open(old.seal(TEXT))).toEqual(TEXT)
    expect(() => old.open(rotated.seal(TEXT))).toThrow()
    expect(aesGcm(KEY).open(rotated.seal(TEXT))).toEqual(TEXT)
  })

  it('throws for another key, for bytes that were changed, and for bytes that are none of its', () => {
    const { seal, open } = aesGcm(KEY)
    expect(() => aesGcm(OTHER).open(seal(TEXT))).toThrow()
    const sealed = seal(TEXT)
    sealed[14] = (sealed[14] ?? 0) ^ 1
    expect(() => open(sealed)).toThrow()
    for (const length of [0, 1, 12, 27]) expect(() => open(new Uint8Array(length))).toThrow()
  })

  it.each([
    ['a password', 'secret'],
    ['a key of another length', new Uint8Array(31)],
  ])('refuses %s as a key', (_, key) => {
    expect(() => aesGcm(key as never)).toThrow(ConfigurationError)
    expect(() => aesGcm(KEY, { also: [key as never] })).toThrow(/16, 24 or 32 bytes/)
  })

  it('does not notice a key that is overwritten later', () => {
    const key = new Uint8Array(32).fill(1)
    const { seal } = aesGcm(key)
    key.fill(0)
    expect(aesGcm(KEY).open(seal(TEXT))).toEqual(TEXT)
  })
})
