import { describe, expect, test } from 'vitest'
import { formatHttpDate, parseHttpDate } from '../../../src/protocol/http-date.ts'

const NOW = Date.UTC(2025, 5, 15, 12)
const NOVEMBER_1994 = Date.UTC(1994, 10, 6, 8, 49, 37)
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

describe('parseHttpDate', () => {
  test.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
  ])('reads %s', (_, text) => {
    expect(parseHttpDate(text, NOW)).toBe(NOVEMBER_1994)
  })

  test.each([
    ['29 February of a leap year', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['29 February of 2000', 'Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
    ['the epoch', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['a time before the epoch', 'Wed, 31 Dec 1969 23:59:59 GMT', -1000],
    ['a two-digit day in asctime', 'Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
    ['the far future', 'Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
    ['a leap second, as the second after :59', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['a leap second in RFC 850', 'Saturday, 31-Dec-16 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['a leap second in asctime', 'Sat Dec 31 23:59:60 2016', Date.UTC(2017, 0, 1)],
  ])('reads %s', (_, text, at) => {
    expect(parseHttpDate(text, NOW)).toBe(at)
  })

  test.each([...MONTHS.entries()])('reads the month %d, %s', (index, month) => {
    expect(parseHttpDate(`Sun, 01 ${month} 2023 00:00:00 GMT`, NOW)).toBe(Date.UTC(2023, index, 1))
  })

  test.each([
    '',
    ' ',
    'soon',
    '5',
    '1e1',
    '2025-06-15T12:00:00Z',
    'Sun, 30 Feb 2025 00:00:00 GMT',
    'Sat, 29 Feb 2025 00:00:00 GMT',
    'Thu, 29 Feb 1900 00:00:00 GMT',
    'Tue, 31 Apr 2025 00:00:00 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 32 Jan 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37 gmt',
    'sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun,06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT\n',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    'Sat, 01 Jan 0050 00:00:00 GMT',
    'Sun, 06 Nov 1994 8:49:371 GMT',
    'Sun, 06 Nov 1994 23:60:60 GMT',
    'Sun Nov 00 08:49:37 1994',
  ])('refuses %j', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined()
  })

  describe('settles the century of a two-digit year by now', () => {
    test.each([
      ['a year that has just passed stays', '24', 2024],
      ['the coming year stays', '26', 2026],
      ['49 years ahead stays', '74', 2074],
      ['more than 50 years ahead is in the past', '76', 1976],
      ['the end of the last century is in the past', '99', 1999],
    ])('%s', (_, digits, year) => {
      expect(parseHttpDate(`Monday, 01-Jan-${digits} 00:00:00 GMT`, NOW)).toBe(Date.UTC(year, 0, 1))
    })

    test('the fiftieth year is ahead, the one after it is in the past', () => {
      expect(parseHttpDate('Saturday, 15-Jun-75 12:00:00 GMT', NOW)).toBe(Date.UTC(2075, 5, 15, 12))
      expect(parseHttpDate('Tuesday, 15-Jun-76 12:00:00 GMT', NOW)).toBe(Date.UTC(1976, 5, 15, 12))
    })

    test('a year of the next century is not taken for one 80 years ago', () => {
      expect(parseHttpDate('Monday, 01-Jan-10 00:00:00 GMT', Date.UTC(2090, 0, 1))).toBe(Date.UTC(2110, 0, 1))
    })
  })
})

describe('formatHttpDate', () => {
  test.each([0, -1000, 951_782_400_000, NOVEMBER_1994, NOW, Date.UTC(9999, 11, 31, 23, 59, 59)])(
    'writes %d as the platform does',
    (at) => {
      expect(formatHttpDate(at)).toBe(new Date(at).toUTCString())
    },
  )

  test('cuts milliseconds off', () => {
    expect(formatHttpDate(NOVEMBER_1994 + 999)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  })
})
