import { expect, test } from 'vitest'
import { headerValue } from '../../../src/protocol/headers.ts'

const HEADERS = [
  ['a', '1'],
  ['b', '2'],
  ['a', ''],
  ['a', '3'],
] as const

test('the fields of one name are joined in their order, empty ones too', () => {
  expect(headerValue(HEADERS, 'a')).toBe('1, , 3')
  expect(headerValue(HEADERS, 'b')).toBe('2')
})

test('a field that is not there has no value', () => {
  expect(headerValue(HEADERS, 'c')).toBeUndefined()
  expect(headerValue([], 'a')).toBeUndefined()
})
