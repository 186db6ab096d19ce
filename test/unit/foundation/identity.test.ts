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
