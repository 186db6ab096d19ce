import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fingerprintInput } from '../../../src/protocol/fingerprint.ts'
import { formParts } from '../../../src/protocol/form-parts.ts'
import { parseKey } from '../../../src/protocol/idempotency-key.ts'
import { parseMediaType } from '../../../src/protocol/media-type.ts'

/** CPU time in ms: the least of some runs, so that what else the machine does counts for little. */
function cost(work: () => unknown): number {
  const runs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...runs)
}

/** A header of about the 16 KiB that Node takes. */
const filled = (first: string, piece: string, last: string): string =>
  `${first}${piece.repeat(Math.floor(15_000 / piece.length))}${last}`

describe('a hostile header costs less than 5 ms:', () => {
  it.each([
    ['blanks within', filled('a', ' ', 'b')],
    ['blanks before', filled('', ' ', 'b')],
    ['blanks within quotes', filled('"a', ' ', '" b')],
    ['parameters', filled('"a"', ';a=', '')],
    ['parameters and their values', filled('"a"', ';a="="', '!')],
    ['a long name', filled('"a";', 'a', '!')],
    ['a long value', filled('"a";a=', '=', '!')],
    ['blanks before a name', filled('"a";', ' ', '!')],
    ['escapes', filled('"', '\\"', '')],
    ['a list', filled('', 'a, ', 'a')],
  ])('a key with %s', (_, value) => {
    expect(parseKey(value)).toBeUndefined()
    expect(cost(() => parseKey(value))).toBeLessThan(5)
  })

  it.each([
    ['blanks', filled('a/b;', ' ', '')],
    ['blanks behind a name', filled('a/b;a', ' ', 'b')],
    ['names', filled('a/b', ';a', '')],
    ['quotes', filled('a/b', ';a="', '')],
    ['escapes', filled('a/b', ';a="\\"', '')],
  ])('a media type with %s', (_, value) => expect(cost(() => parseMediaType(value))).toBeLessThan(5))
})

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function fingerprinted(body: Uint8Array, contentType: string): string {
  const { texts, bytes } = fingerprintInput({
    ...{ scope: 's', method: 'POST', path: '/', query: '', contentEncoding: undefined },
    ...{ contentType, body },
  })
  return createHash('sha256')
    .update(JSON.stringify(texts))
    .update(bytes ?? '')
    .digest('hex')
}

const MIB = 1024 * 1024
const repeated = (piece: string, size: number): Uint8Array => new Uint8Array(Buffer.alloc(size, piece))

describe('a hostile form costs less than ten times a plain body of its size:', () => {
  const plain = cost(() => fingerprinted(repeated('x', 10 * MIB), 'application/octet-stream'))

  it.each([
    ['delimiters alone', '\n--a', 'a'],
    ['delimiters that stand within lines', '--a', 'a'],
    ['small parts', 'xxxx\n--a', 'a'],
    ['line breaks', '\n', 'a'],
    ['beginnings of delimiters', '\n-', 'a'],
    ['dashes, and a boundary of dashes', '-', '-'.repeat(70)],
    ['beginnings of a long delimiter', `\n${'-'.repeat(71)}`, '-'.repeat(70)],
  ])('%s', { timeout: 60_000 }, (_, piece, boundary) => {
    const body = repeated(piece, 10 * MIB)
    expect(cost(() => fingerprinted(body, `multipart/form-data; boundary=${boundary}`))).toBeLessThan(10 * plain)
  })

  it('its parts are counted up to 10,000, and more are compared as bytes', () => {
    const form = (parts: number) => bytesOf(`${'--a\r\n1\r\n'.repeat(parts)}`)
    expect(formParts(form(10_000), 'a')?.lengths).toHaveLength(10_001)
    expect(formParts(form(10_001), 'a')).toBeUndefined()
    expect(formParts(repeated('\n--a', 10 * MIB), 'a')).toBeUndefined()
  })
})

const SIZE = 256 * 1024
const filledJson = (item: string, [open, close]: string = '[]'): string =>
  `${open}${Array(Math.floor((SIZE - 1) / (item.length + 1)))
    .fill(item)
    .join()}${close}`
const members = (name: (index: number) => string) => `{${Array.from({ length: 23_000 }, (_, at) => `"${name(at)}":1`)}}`

describe('hostile JSON costs less than ten times plain JSON of its size:', () => {
  const order = (id: number) => ({
    id,
    name: `customer ${id}`,
    amount: id * 100 + 1,
    currency: 'eur',
    tags: ['a', 'b'],
  })
  const plainText = JSON.stringify(Array.from({ length: 2_800 }, (_, id) => order(id)))
  const plain = cost(() => fingerprinted(bytesOf(plainText), 'application/json'))
  const nested = (open: string, close: string, inner: string) => `${open.repeat(199)}${inner}${close.repeat(199)}`

  it.each([
    ['zeros', filledJson('0')],
    ['round numbers', filledJson('10')],
    ['fractions', filledJson('1.5')],
    ['escapes', filledJson('"\\n"')],
    ['empty objects', filledJson('{}')],
    ['keys in disorder', members((index) => ((index * 7919) % 100_003).toString(36))],
    ['keys with escapes', members((index) => `\\n${(46_655 - index).toString(36)}`)],
    ['one key many times', filledJson('"a":1', '{}')],
    ['deep arrays', nested('[', ']', `"${'x'.repeat(SIZE - 500)}"`)],
    ['deep objects', nested('{"a":', '}', `"${'x'.repeat(SIZE - 1_500)}"`)],
    ['deep objects in disorder', nested('{"b":0,"a":', '}', `"${'x'.repeat(SIZE - 2_500)}"`)],
    ['many deep objects', filledJson(`${'{"a":'.repeat(198)}1${'}'.repeat(198)}`)],
    ['brackets', '['.repeat(SIZE)],
    ['digits', '1'.repeat(SIZE)],
    ['digits that are zeros', `1${'0'.repeat(SIZE - 1)}`],
    ['digits behind a point', `0.${'0'.repeat(SIZE - 3)}1`],
    ['digits of an exponent', `1e${'9'.repeat(SIZE - 2)}`],
    ['slashes', `"${'\\\\'.repeat(SIZE / 2 - 1)}"`],
    ['quotes without an end', `"${'\\"'.repeat(SIZE / 2 - 1)}`],
    ['blanks', `[${' '.repeat(SIZE - 2)}]`],
  ])('%s', (_, text) => {
    const body = bytesOf(text)
    expect(body.length).toBeLessThanOrEqual(SIZE)
    expect(cost(() => fingerprinted(body, 'application/json'))).toBeLessThan(10 * plain)
  })
})
