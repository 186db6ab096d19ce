import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../src/foundation/duration.ts'
import { redactText, redactUrl } from '../../src/observe/redact.ts'
import { formatHttpDate, parseHttpDate } from '../../src/protocol/http-date.ts'
import { formatKey, isValidKey, parseKey } from '../../src/protocol/idempotency-key.ts'
import { serverDelayMs } from '../../src/protocol/server-timing.ts'

const FIRST = Date.UTC(1000, 0, 1)
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59)
const seconds = fc.integer({ min: FIRST / 1000, max: LAST / 1000 })

describe('HTTP dates', () => {
  test('read back what was written, as the platform writes it too', () => {
    fc.assert(
      fc.property(seconds, seconds, (at, now) => {
        const text = formatHttpDate(at * 1000)
        expect(text).toBe(new Date(at * 1000).toUTCString())
        expect(parseHttpDate(text, now * 1000)).toBe(at * 1000)
      }),
    )
  })

  test('a two-digit year is never more than 50 years ahead, and at most about 50 behind', () => {
    const year = 365.25 * 86_400_000
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), fc.integer({ min: 0, max: 99 }), (now, digits) => {
        const at = parseHttpDate(`Monday, 02-Jan-${String(digits).padStart(2, '0')} 03:04:05 GMT`, now * 1000)
        expect(at).toBeDefined()
        const ahead = ((at ?? 0) - now * 1000) / year
        expect(ahead).toBeLessThan(50.01)
        expect(ahead).toBeGreaterThan(-50.01)
      }),
    )
  })

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string(), seconds, (text, now) => {
        expect(['number', 'undefined']).toContain(typeof parseHttpDate(text, now))
      }),
    )
  })
})

describe('server timing', () => {
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.bigInt().map(String),
    seconds.map((at) => formatHttpDate(at * 1000)),
  )
  const name = fc.constantFrom('retry-after-ms', 'retry-after', 'ratelimit-reset', 'x-ratelimit-reset')

  test('is absent, or finite and not negative', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), fc.integer({ min: 0, max: LAST }), (headers, now) => {
        const delay = serverDelayMs(headers, now) ?? 0
        expect(Number.isFinite(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('never lets a client come earlier than the date it was given', () => {
    fc.assert(
      fc.property(seconds, fc.double({ min: 0, max: LAST, noNaN: true }), (at, now) => {
        const delay = serverDelayMs([['retry-after', formatHttpDate(at * 1000)]], now) ?? Number.NaN
        expect(now + delay).toBeGreaterThanOrEqual(at * 1000)
      }),
    )
  })
})

describe('keys', () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 255,
  })

  test('of visible ASCII come back from both formats', () => {
    fc.assert(
      fc.property(visible, fc.constantFrom('bare' as const, 'structured' as const), (key, format) => {
        expect(isValidKey(key)).toBe(true)
        expect(parseKey(formatKey(key, format))).toBe(key)
        expect(parseKey(` ${formatKey(key, format)}\t`)).toBe(key)
      }),
    )
  })

  test('read from anything are absent, or can be written and read again', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `"${text}"`),
        ),
        (text) => {
          const key = parseKey(text)
          if (key === undefined) return
          expect(key).toMatch(/^[\x20-\x7e]{1,255}$/)
          // Blanks come in quotes only.
          expect(isValidKey(key) || text.trim().startsWith('"')).toBe(true)
          for (const format of ['bare', 'structured'] as const) expect(parseKey(formatKey(key, format))).toBe(key)
        },
      ),
    )
  })
})

describe('durations', () => {
  const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

  test('come back from every unit', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.constantFrom('ms' as const, 's' as const, 'm' as const, 'h' as const, 'd' as const),
        (n, unit) => {
          expect(parseDuration(`${n}${unit}`)).toBe(n * UNITS[unit])
        },
      ),
    )
  })

  test('are absent, or finite and not negative', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const ms = parseDuration(value) ?? 0
        expect(Number.isFinite(ms) && ms >= 0).toBe(true)
      }),
    )
  })
})

describe('redaction', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'QWXZ0123456789'), minLength: 12, maxLength: 40 })

  test('takes user info and credential parameters out of any URL', () => {
    fc.assert(
      fc.property(secret, fc.webUrl({ withQueryParameters: true, withFragments: true }), (hidden, url) => {
        const withUser = url.replace('://', `://ann:${hidden}@`)
        expect(redactUrl(withUser)).not.toContain(hidden)
        expect(redactText(`at ${withUser} it failed`)).not.toContain(hidden)
        const withToken = new URL(url)
        withToken.searchParams.append('access_token', hidden)
        expect(redactUrl(withToken.href)).not.toContain(hidden)
      }),
    )
  })

  test('takes authorization out of any message', () => {
    fc.assert(
      fc.property(
        secret,
        fc.string(),
        fc.constantFrom('Bearer ', 'authorization: ', 'x-api-key=', 'Basic '),
        (hidden, around, label) => {
          const once = redactText(`${around} ${label}${hidden} ${around}`)
          expect(once).not.toContain(hidden)
        },
      ),
    )
  })
})
