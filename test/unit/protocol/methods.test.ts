import { expect, test } from 'vitest'
import { isIdempotentMethod, isSafeMethod } from '../../../src/protocol/methods.ts'

test.each([
  ['GET', true, true],
  ['HEAD', true, true],
  ['OPTIONS', true, true],
  ['PUT', false, true],
  ['DELETE', false, true],
  ['POST', false, false],
  ['PATCH', false, false],
  ['CUSTOM', false, false],
  ['', false, false],
  ['QUERY', true, true],
  ['query', false, false],
])('%j is safe: %s, idempotent: %s', (method, safe, idempotent) => {
  expect(isSafeMethod(method)).toBe(safe)
  expect(isIdempotentMethod(method)).toBe(idempotent)
})
