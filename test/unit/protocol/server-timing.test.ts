import { describe, expect, test } from 'vitest'
import type { HeaderList } from '../../../src/protocol/headers.ts'
import { formatHttpDate } from '../../../src/protocol/http-date.ts'
import { serverDelayMs } from '../../../src/protocol/server-timing.ts'

const NOW = Date.UTC(2025, 5, 15, 12)
const NOW_SECONDS = NOW / 1000

function delay(...headers: HeaderList): number | undefined {
  return serverDelayMs(headers, NOW)
}

describe('a point in time', () => {
  const date = formatHttpDate(NOW - 600_000)

  test.each([
    ['Retry-After', formatHttpDate(NOW - 540_000)],
    ['X-RateLimit-Reset', String(NOW_SECONDS - 540)],
  ])('in %s counts from the Date of the answer, whatever the clock here says', (name, value) => {
    expect(delay(['date', date], [name.toLowerCase(), value])).toBe(60_000)
  })

  test('counts from the clock here if the answer has no Date, or one that is none', () => {
    const value = formatHttpDate(NOW + 60_000)
    expect(delay(['date', 'yesterday'], ['retry-after', value])).toBe(60_000)
  })
})

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['5', 5000],
    [' 5 ', 5000],
    ['\t5', 5000],
    ['007', 7000],
    ['1750000000', 1_750_000_000_000],
    ['1.5', undefined],
    ['1e1', undefined],
    ['0x10', undefined],
    ['-5', undefined],
    ['+5', undefined],
    ['', undefined],
    ['   ', undefined],
    ['soon', undefined],
    ['5s', undefined],
    ['5, 5', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['٥', undefined],
  ])('%j gives %s', (value, expected) => {
    expect(delay(['retry-after', value])).toBe(expected)
  })

  test('a past date means now', () => {
    expect(delay(['retry-after', formatHttpDate(NOW - 60_000)])).toBe(0)
  })

  test('a date is a wait until then', () => {
    expect(delay(['retry-after', formatHttpDate(NOW + 90_000)])).toBe(90_000)
  })

  test('a date is never reached early when now has milliseconds', () => {
    expect(serverDelayMs([['retry-after', formatHttpDate(NOW + 2000)]], NOW + 0.5)).toBe(2000)
  })

  test.each(['Sunday, 15-Jun-25 12:00:30 GMT', 'Sun Jun 15 12:00:30 2025'])('reads the old form %j', (text) => {
    expect(delay(['retry-after', text])).toBe(30_000)
  })

  test.each(['Sun, 30 Feb 2025 00:00:00 GMT', '2025-06-15T12:00:30Z', 'tomorrow'])('%j has no timing', (text) => {
    expect(delay(['retry-after', text])).toBeUndefined()
  })

  test('a far date and an endless number stay finite', () => {
    expect(delay(['retry-after', 'Fri, 31 Dec 9999 23:59:59 GMT'])).toBe(Date.UTC(9999, 11, 31, 23, 59, 59) - NOW)
    const endless = delay(['retry-after', '9'.repeat(400)])
    expect(endless).toBeGreaterThan(86_400_000 * 365 * 1000)
    expect(new Date(NOW + (endless ?? 0)).getTime()).not.toBeNaN()
  })
})

describe('retry-after-ms', () => {
  test.each([
    ['0', 0],
    ['1500', 1500],
    ['1500.2', 1501],
    [' 20 ', 20],
    ['-1', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['fast', undefined],
  ])('%j gives %s', (value, expected) => {
    expect(delay(['retry-after-ms', value])).toBe(expected)
  })
})

describe.each(['ratelimit-reset', 'x-ratelimit-reset'])('%s', (name) => {
  test.each([
    ['30', 30_000],
    ['0', 0],
    ['1.5', 1500],
    ['1.25', 1250],
    ['1704067199', 1_704_067_199_000],
    ['1704067200', 0],
    ['1704067200000', 0],
    [`${NOW_SECONDS + 60}`, 60_000],
    [`${NOW_SECONDS + 60}.5`, 60_500],
    [`${NOW_SECONDS - 60}`, 0],
    [`${NOW + 2500}`, 2500],
    [`${NOW - 2500}`, 0],
    ['-30', undefined],
    ['soon', undefined],
    ['', undefined],
    ['0x10', undefined],
  ])('%j gives %s', (value, expected) => {
    expect(delay([name, value])).toBe(expected)
  })
})

describe('the first header found wins', () => {
  const all: HeaderList = [
    ['x-ratelimit-reset', '4'],
    ['ratelimit-reset', '3'],
    ['retry-after', '2'],
    ['retry-after-ms', '1'],
  ]

  test.each([
    [4, 1],
    [3, 2000],
    [2, 3000],
    [1, 4000],
    [0, undefined],
  ])('of the last %d in rank, the order on the wire does not matter', (count, expected) => {
    expect(delay(...all.slice(0, count))).toBe(expected)
  })

  test('retry-after-ms of zero beats Retry-After', () => {
    expect(delay(['retry-after', '9'], ['retry-after-ms', '0'])).toBe(0)
  })

  test.each(['', 'soon', '1.5', '-5', '0x10'])('a Retry-After of %j does not fall through to a reset', (value) => {
    expect(delay(['retry-after', value], ['ratelimit-reset', '30'])).toBeUndefined()
  })

  test('a malformed retry-after-ms does not fall through to Retry-After', () => {
    expect(delay(['retry-after-ms', 'x'], ['retry-after', '30'])).toBeUndefined()
  })
})
