import { describe, expect, it } from 'vitest'
import { isTimeout } from '../../../../src/server/admission/is-timeout.ts'

describe('isTimeout', () => {
  it.each([
    ['an answer 408', { status: 408 }],
    ['an answer 504', { status: 504 }],
    ['an error with the code ETIMEDOUT, whatever its answer', { status: 503, error: { code: 'ETIMEDOUT' } }],
    ['an abort after a time', { error: new DOMException('late', 'TimeoutError') }],
  ])('takes %s for that of a timeout', (_, failure) => {
    expect(isTimeout(failure)).toBe(true)
  })

  it.each([
    ['a 503', { status: 503 }],
    ['a 500 of an error', { status: 500, error: new Error('no') }],
    ['an error without an answer', { error: new Error('no') }],
    ['a value that is no error', { error: undefined }],
    ['null, thrown', { status: 500, error: null }],
  ])('takes no other failure for one: %s', (_, failure) => {
    expect(isTimeout(failure)).toBe(false)
  })
})
