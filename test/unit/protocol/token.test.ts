import { expect, test } from 'vitest'
import { isToken } from '../../../src/protocol/token.ts'

test.each(['a', 'GET', 'x-Own-1', "!#$%&'*+.^_`|~0Az-"])('%j is a token', (value) => {
  expect(isToken(value)).toBe(true)
})

test.each(['', 'a b', ' a', 'a ', 'a:', 'a\n', 'é', '(', 1, null, undefined, ['a']])('%j is none', (value) => {
  expect(isToken(value)).toBe(false)
})
