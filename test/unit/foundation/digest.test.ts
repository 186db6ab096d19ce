import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { aesGcm } from '../../../src/client/encryption/aes-gcm.ts'
import { framed, webDigest } from '../../../src/foundation/digest.ts'
import { newOperationKey } from '../../../src/foundation/identity.ts'
import { nodeDigest } from '../../../src/foundation/node-digest.ts'
import { sha256 } from '../../../src/foundation/sha256.ts'

const expected = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** What a page sees that was loaded over plain http from another host than this one. */
function asInsecurePage(): void {
  const { crypto } = globalThis
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
}

afterEach(() => vi.unstubAllGlobals())

describe('SHA-256 without WebCrypto', () => {
  test('is that of the platform, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(hex(sha256(bytes))).toBe(expected(bytes))
      }),
    )
  })

  test('is that of the platform at every length around its blocks, and for a large body', () => {
    for (const size of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1_000_003]) {
      const bytes = new Uint8Array(size).map((_, at) => at % 251)
      expect(hex(sha256(bytes)), String(size)).toBe(expected(bytes))
    }
  })
})

describe('the digest of Node', () => {
  test('is that of a browser, for any texts and bytes: fingerprints are stored, and must not change', async () => {
    const texts = fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 })
    const bytes = fc.option(fc.uint8Array({ maxLength: 300 }))
    await fc.assert(
      fc.asyncProperty(texts, bytes, async (texts, bytes) => {
        expect(nodeDigest(texts, bytes)).toBe(await webDigest(texts, bytes))
        expect(nodeDigest(texts, bytes)).toBe(expected(framed(texts, bytes)))
      }),
    )
    expect(nodeDigest(['\ud800', '\u20ac'], null)).toBe(expected(framed(['\ud800', '\u20ac'], null)))
    expect(nodeDigest(['POST', 'https://api.example/charges'], new TextEncoder().encode('{"a":1}'))).toBe(
      'c5e926e7c53a317014765cc7f64be7791bc1c9ab735afbf348546a842c0bd741',
    )
  })
})

describe('a page without a secure context', () => {
  test('gets the same digest as one with it', async () => {
    const body = new TextEncoder().encode('{"amount":5000}')
    const secure = await webDigest(['POST', 'http://intranet/charges'], body)
    asInsecurePage()
    expect(await webDigest(['POST', 'http://intranet/charges'], body)).toBe(secure)
    expect(secure).toBe(expected(framed(['POST', 'http://intranet/charges'], body)))
  })

  test('makes keys from the cryptographic source', () => {
    asInsecurePage()
    expect(newOperationKey()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  })

  test('is told that it can not encrypt', () => {
    asInsecurePage()
    expect(() => aesGcm(new Uint8Array(32))).toThrow(
      expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining('https') }),
    )
  })
})
