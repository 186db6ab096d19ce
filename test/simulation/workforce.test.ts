import { expect, it } from 'vitest'
import { joined } from './workforce.ts'

it.each([
  [[], []],
  [[[250, 250] as const, [0, 250] as const], [[0, 500]]],
  [
    [[500, 250] as const, [0, 250] as const],
    [
      [0, 250],
      [500, 250],
    ],
  ],
  [[[0, 250] as const, [500, 20] as const, [250, 250] as const], [[0, 520]]],
])('keeps the blocks that are done as few as possible: %j', (blocks, expected) =>
  expect(joined(blocks)).toEqual(expected),
)
