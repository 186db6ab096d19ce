import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../../src/foundation/duration.ts'

describe('parseDuration', () => {
  test.each([
    [0, 0],
    [1500, 1500],
    [0.5, 0.5],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1.5s', 1500],
    ['0s', 0],
    [' 30s ', 30_000],
  ])('%j is %d ms', (value, ms) => {
    expect(parseDuration(value)).toBe(ms)
  })

  test.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '30',
    '30 s',
    's',
    '-5s',
    '+5s',
    '1e3ms',
    '0x10s',
    '.5s',
    '5.s',
    '30S',
    '1h30m',
    '1w',
    null,
    undefined,
    true,
    {},
    ['30s'],
    30n,
  ])('case %# is not a duration: %s', (value) => {
    expect(parseDuration(value)).toBeUndefined()
  })
})
