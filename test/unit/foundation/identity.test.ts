import { describe, expect, test, vi } from 'vitest'
import { newOperationKey, newRunnerId } from '../../../src/foundation/identity.ts'
import { randomBytes } from '../../../src/foundation/random.ts'

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('newOperationKey', () => {
  test('makes a UUIDv4, another one each time', () => {
    const keys = Array.from({ length: 10_000 }, newOperationKey)
    expect(new Set(keys).size).toBe(10_000)
    for (const key of keys) expect(key).toMatch(UUID_V4)
  })

  test('leaves no bit of the 122 free ones to guess', () => {
    const keys = Array.from({ length: 10_000 }, newOperationKey)
    const numbers = keys.map((key) => BigInt(`0x${key.replaceAll('-', '')}`))
    const ones = Array.from({ length: 128 }, (_, bit) => numbers.filter((n) => (n >> BigInt(bit)) & 1n).length)
    const fair = ones.filter((count) => Math.abs(count - 5000) < 400)
    expect([fair.length, ones.filter((count) => count % 10_000 === 0).length]).toEqual([122, 6])
  })

  test('begins elsewhere each time that it is loaded', async () => {
    const firstKeys = async (): Promise<string[]> => {
      vi.resetModules()
      const fresh = await import('../../../src/foundation/identity.ts')
      return Array.from({ length: 1000 }, fresh.newOperationKey)
    }
    const [one, other] = [await firstKeys(), await firstKeys()]
    expect(one.filter((key) => other.includes(key))).toEqual([])
  })

  test('never rolls the dice of Math.random', () => {
    const dice = vi.spyOn(Math, 'random').mockReturnValue(0)
    try {
      expect(newOperationKey()).not.toBe(newOperationKey())
      expect(newRunnerId()).not.toBe(newRunnerId())
      expect(dice).not.toHaveBeenCalled()
    } finally {
      dice.mockRestore()
    }
  })
})

test('randomBytes gives as many bytes as asked for', () => {
  expect(randomBytes(16)).toHaveLength(16)
  expect(randomBytes(16)).not.toEqual(randomBytes(16))
})
