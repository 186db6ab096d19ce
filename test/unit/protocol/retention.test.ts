import { describe, expect, it } from 'vitest'
import { readRetention } from '../../../src/protocol/header-names.ts'

const read = (...values: string[]) => readRetention(values.map((value) => ['idempotency-retention', value] as const))

describe('the announced dedup window', () => {
  it.each([
    ['86400', 86_400_000],
    [' 60 ', 60_000],
    ['1', 1000],
    ['007', 7000],
    ['999999999999', 999_999_999_999_000],
  ])('of %j is %i ms', (value, ms) => {
    expect(read(value)).toBe(ms)
  })

  it.each(['', '0', '00', '-60', '1.5', '1e3', '24h', 'forever', 'Infinity', '60;q=1', '9'.repeat(13)])(
    'is none where %j is said',
    (value) => {
      expect(read(value)).toBeUndefined()
    },
  )

  it('is none where nothing, or more than one thing, is said', () => {
    expect(read()).toBeUndefined()
    expect(read('60', '3600')).toBeUndefined()
  })
})
