import { describe, expect, it } from 'vitest'
import { serverWish } from '../../../../src/client/engine/run/report-of.ts'
import type { HeaderList } from '../../../../src/protocol/headers.ts'

const NOW = 1_750_000_000_000
const wish = (status: number, ...headers: HeaderList) => serverWish(status, headers, NOW)
const left = (remaining: number, limit?: number): HeaderList => [
  ['ratelimit-remaining', `${remaining}`],
  ['ratelimit-reset', '30'],
  ...(limit === undefined ? [] : ([['ratelimit-limit', `${limit}`]] as const)),
]

describe('what an answer asks of the next requests', () => {
  it('is nothing if it says nothing', () => {
    expect([wish(200), wish(429), wish(503)]).toEqual([undefined, undefined, undefined])
  })

  it.each([429, 503])('is to stay away if a %i says for how long', (status) => {
    expect(wish(status, ['retry-after', '7'])).toEqual({ retryAfterMs: 7000 })
    expect(wish(status, ['retry-after', 'soon'])).toBeUndefined()
  })

  it.each([200, 202, 409, 413, 500, 502])(
    'is nothing if a %i says when to come again: that is about one request',
    (status) => {
      expect(wish(status, ['retry-after', '7'])).toBeUndefined()
    },
  )

  it('is a gap if less than a tenth of the quota is left', () => {
    expect(wish(200, ...left(9, 100))).toEqual({ retryAfterMs: undefined, spaceMs: 30_000 / 9, spaceForMs: 30_000 })
    expect(wish(200, ...left(10, 100))).toBeUndefined()
  })

  it('is a gap if fewer than five requests are left of an unknown quota', () => {
    expect(wish(200, ...left(4))).toEqual({ retryAfterMs: undefined, spaceMs: 7500, spaceForMs: 30_000 })
    expect(wish(200, ...left(5))).toBeUndefined()
  })

  it('is to stay away until a quota that is used up begins anew', () => {
    expect(wish(200, ...left(0, 100))).toEqual({ retryAfterMs: 30_000 })
    expect(wish(200, ['ratelimit-remaining', '0'], ['ratelimit-reset', '0'])).toBeUndefined()
  })

  it('is both if a server says both, and its own delay counts', () => {
    const both = [['retry-after', '2'], ...left(3, 100)] as const
    expect(wish(503, ...both)).toEqual({ retryAfterMs: 2000, spaceMs: 10_000, spaceForMs: 30_000 })
    expect(wish(429, ['retry-after', '2'], ...left(0, 100))).toEqual({ retryAfterMs: 2000 })
    expect(wish(429, ['retry-after', '2'], ...left(90, 100))).toEqual({ retryAfterMs: 2000 })
  })
})
