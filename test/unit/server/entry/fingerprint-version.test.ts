import { expect, it } from 'vitest'
import { compareFingerprints, versionedFingerprint } from '../../../../src/server/entry/entry.ts'

it('is written before the digest', () => {
  expect(versionedFingerprint('abc')).toBe('1:abc')
})

it.each([
  ['1:abc', '1:abc', 'same'],
  ['1:abc', '1:abd', 'different'],
  ['abc', 'abd', 'different'],
  // A digest of before the first version: as long as any other, and made in another way.
  ['abc', '1:abd', 'incomparable'],
  ['1:abc', '2:abd', 'incomparable'],
  ['xbc', 'ybd', 'different'],
  ['abc', '1:abc', 'same'],
  ['1:abc', '2:abc', 'same'],
] as const)('%j and %j are %s', (stored, asked, compared) => {
  expect(compareFingerprints(stored, asked)).toBe(compared)
  expect(compareFingerprints(asked, stored)).toBe(compared)
})
