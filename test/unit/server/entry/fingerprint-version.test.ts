import { describe, expect, it } from 'vitest'
import { compareFingerprints, requestFingerprints } from '../../../../src/server/entry/entry.ts'

const key = (id: string, byte: number) => ({ id, secret: new Uint8Array(16).fill(byte) })

it('is written before the digest, with how the body was seen', () => {
  expect(requestFingerprints({ digest: 'abc', seen: 'bytes-json' }, [])).toEqual(['2/bytes-json:abc'])
})

it('names its secret, and has none of the digest', () => {
  const made = requestFingerprints({ digest: 'abc', seen: 'bytes' }, [key('new', 1), key('old', 2)])
  expect(made).toEqual([
    expect.stringMatching(/^2\/bytes\/new:[0-9a-f]{64}$/),
    expect.stringMatching(/^2\/bytes\/old:[0-9a-f]{64}$/),
    '2/bytes:abc',
  ])
})

describe('two fingerprints', () => {
  it.each([
    ['1:abc', '1:abc', 'same'],
    ['1:abc', '1:abd', 'different'],
    ['abc', 'abd', 'different'],
    // A digest of before the first version: as long as any other, and made in another way.
    ['abc', '1:abd', 'incomparable'],
    ['1:abc', '2/bytes:abd', 'incomparable'],
    ['2/bytes:abc', '3/bytes:abd', 'incomparable'],
    ['xbc', 'ybd', 'different'],
    ['abc', '1:abc', 'same'],
    ['1:abc', '2/bytes-json:abc', 'same'],
    // Bytes are seen in one way only, whatever is made of them.
    ['2/bytes:abc', '2/bytes:abd', 'different'],
    ['2/bytes:abc', '2/bytes-json:abd', 'different'],
    // JSON from which a parser takes nothing.
    ['2/bytes-json:abc', '2/parsed-json:abc', 'same'],
    ['2/bytes-json:abc', '2/parsed-json:abd', 'different'],
    ['2/parsed-json:abc', '2/parsed-json:abd', 'different'],
    ['2/parsed:abc', '2/parsed:abd', 'different'],
    // What a parser may have changed.
    ['2/bytes:abc', '2/parsed:abd', 'incomparable'],
    ['2/bytes:abc', '2/parsed-json:abd', 'incomparable'],
    ['2/bytes-json:abc', '2/parsed:abd', 'incomparable'],
    ['2/parsed:abc', '2/parsed-json:abd', 'incomparable'],
    ['2/parsed:abc', '2/parsed-bigint:abd', 'incomparable'],
    ['2/bytes:abc', '2/parsed-bigint:abc', 'same'],
    // Each secret makes others.
    ['2/bytes/k1:abc', '2/bytes/k1:abd', 'different'],
    ['2/bytes/k1:abc', '2/bytes/k2:abd', 'incomparable'],
    ['2/bytes/k1:abc', '2/bytes:abd', 'incomparable'],
  ] as const)('%j and %j are %s', (stored, asked, compared) => {
    expect(compareFingerprints(stored, asked)).toBe(compared)
    expect(compareFingerprints(asked, stored)).toBe(compared)
  })
})

describe('a stored one and those of a request', () => {
  const received = ['2/bytes/new:abc', '2/bytes/old:def', '2/bytes:ghi']

  it.each([
    ['2/bytes/new:abc', 'same'],
    ['2/bytes/old:def', 'same'],
    ['2/bytes:ghi', 'same'],
    ['1:ghi', 'same'],
    ['2/bytes/old:other', 'different'],
    ['2/bytes:other', 'different'],
    ['2/parsed/old:other', 'incomparable'],
    ['2/bytes/gone:other', 'incomparable'],
    ['1:other', 'incomparable'],
  ] as const)('%j is %s', (stored, compared) => expect(compareFingerprints(stored, received)).toBe(compared))
})
