import { describe, expect, it } from 'vitest'
import { readLimits, strictest } from '../../../src/protocol/call-limits.ts'

const NOW = 1_000_000

const limits = (headers: Record<string, string>) => readLimits((name) => headers[name], {}, NOW)

describe('the limits of a request', () => {
  it.each(['true', '1', '?1', ' TRUE ', 'true, true', 'false, true'])('say do-not-retry by %j', (value) => {
    expect(limits({ 'do-not-retry': value }).doNotRetry).toBe(true)
  })

  it.each(['false', '0', '?0', '', 'yes', 'truely'])('do not say do-not-retry by %j', (value) => {
    expect(limits({ 'do-not-retry': value }).doNotRetry).toBe(false)
  })

  it.each([
    ['100', 90],
    ['200', 190],
    ['201', 190],
    ['2000', 1900],
    ['20000', 19_000],
    ['30000', 29_000],
    ['86400000', 86_399_000],
    ['10', 0],
    ['3', 0],
    ['0', 0],
    [' 2000 ', 1900],
    ['30000, 2000', 1900],
    ['soon, 2000', 1900],
  ])('of %j ms leave %i: a twentieth is kept, at least 10 ms and at most a second', (value, left) => {
    expect(limits({ 'request-timeout-ms': value }).deadlineAt).toBe(NOW + left)
  })

  it.each(['', 'soon', '-5', '1.5', '1e3', '0x10', '5s', 'Infinity', '9'.repeat(16), '12;q=1'])(
    'have no deadline where %j is said for one',
    (value) => {
      expect(limits({ 'request-timeout-ms': value }).deadlineAt).toBeUndefined()
    },
  )

  it('are none where nothing is said', () => {
    expect(limits({})).toEqual({ doNotRetry: false, deadlineAt: undefined })
  })

  it('are read under other names', () => {
    const headers: Record<string, string> = { 'x-no-retry': '1', 'x-left': '2000', 'request-timeout-ms': '5' }
    expect(readLimits((name) => headers[name], { doNotRetry: 'x-no-retry', timeout: 'x-left' }, NOW)).toEqual({
      doNotRetry: true,
      deadlineAt: NOW + 1900,
    })
  })
})

describe('the stricter of two limits', () => {
  it('is the one that forbids, and the one that ends first', () => {
    const none = { doNotRetry: false, deadlineAt: undefined }
    expect(strictest({}, {})).toEqual(none)
    expect(strictest({ doNotRetry: true, deadlineAt: 9 }, { doNotRetry: false, deadlineAt: 5 })).toEqual({
      doNotRetry: true,
      deadlineAt: 5,
    })
    expect(strictest({ deadlineAt: 5 }, { doNotRetry: true })).toEqual({ doNotRetry: true, deadlineAt: 5 })
  })
})
