import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { webDigest } from '../../../src/foundation/digest.ts'
import { type FingerprintRequest, fingerprintInput } from '../../../src/protocol/fingerprint.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const JSON_REQUEST: FingerprintRequest = {
  scope: 'tenant-1',
  method: 'POST',
  path: '/charges',
  query: '',
  contentType: 'application/json',
  contentEncoding: undefined,
  body: bytes('{"amount":5000,"currency":"eur"}'),
}

function fingerprint(changes: Partial<FingerprintRequest> = {}): string | Promise<string> {
  const { texts, bytes } = fingerprintInput({ ...JSON_REQUEST, ...changes })
  return webDigest(texts, bytes)
}

const json = (text: string, contentType: string | undefined = 'application/json') => ({
  contentType,
  body: bytes(text),
})

const rawForm = (text: string) => ({ contentType: 'multipart/form-data; boundary=one', body: bytes(text) })

const form = (boundary: string, value: string) => ({
  contentType: `multipart/form-data; boundary=${boundary}`,
  body: bytes(
    `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="b"\r\n\r\n2\r\n--${boundary}--\r\n`,
  ),
})

/** JSON of this many bytes, whose members stand in this order. */
const ofSize = (size: number, order: 'a first' | 'b first') => {
  const rest = `"b":"${'x'.repeat(size - '{"a":1,"b":""}'.length)}"`
  return json(order === 'a first' ? `{"a":1,${rest}}` : `{${rest},"a":1}`)
}

const parsed = ({ body }: { readonly body: Uint8Array }) => ({
  body: { json: JSON.parse(new TextDecoder().decode(body)) as unknown },
})

type Pair = readonly [what: string, one: Partial<FingerprintRequest>, other: Partial<FingerprintRequest>]

const same: readonly Pair[] = [
  ['the order of keys', {}, json('{"currency":"eur","amount":5000}')],
  ['blanks', {}, json('{ "amount": 5000,\n "currency": "eur" }')],
  ['the spelling of numbers', json('[1,0]'), json('[1.0,-0]')],
  ['escapes', {}, json('{"amount":5000,"curr\\u0065ncy":"eur"}')],
  ['a byte order mark', {}, json('\ufeff{"amount":5000,"currency":"eur"}')],
  ['the letter case of the type', {}, { contentType: 'Application/JSON' }],
  ['a charset that is said', {}, { contentType: 'application/json; charset=UTF-8' }],
  ['a charset in quotes', {}, { contentType: 'application/json;charset="utf-8"' }],
  ['the name of the JSON dialect', {}, { contentType: 'application/vnd.shop.v2+json' }],
  ['an encoding that changes nothing', {}, { contentEncoding: 'identity' }],
  ['blanks around an encoding', {}, { contentEncoding: ' Identity ' }],
  ['the spelling of the charset', {}, { contentType: 'application/json; charset=utf8' }],
  ['an empty and a missing body', { body: null }, { body: new Uint8Array() }],
  ['the type of nothing', { body: null }, { body: null, contentType: undefined }],
  ['who read the JSON', {}, { body: { json: { currency: 'eur', amount: 5000 } } }],
  ['who read nothing', { body: null }, { body: { json: undefined } }],
  ['the boundary of a form', form('one', 'x'), form('another-one', 'x')],
  [
    'a boundary in quotes',
    form('one', 'x'),
    { ...form('one', 'x'), contentType: 'multipart/form-data; boundary="one"' },
  ],
  ['parameters of a text', json('a', 'text/plain'), json('a', 'text/plain; format=flowed')],
  ['the position in memory', {}, { body: bytes('xx{"amount":5000,"currency":"eur"}').subarray(2) }],
]

const gzipped = (text: string) => ({ body: new Uint8Array(gzipSync(text)), contentEncoding: 'gzip' })

const different: readonly Pair[] = [
  ['the scope', {}, { scope: 'tenant-2' }],
  ['the method', {}, { method: 'PUT' }],
  ['the path', {}, { path: '/charges/1' }],
  ['the query', {}, { query: 'dry=1' }],
  ['path and query', { path: '/a', query: 'b' }, { path: '/a?b', query: '' }],
  ['scope and method', { scope: 'aP', method: 'OST' }, { scope: 'a', method: 'POST' }],
  ['a value', {}, json('{"amount":5001,"currency":"eur"}')],
  ['large integers', json('9007199254740993'), json('9007199254740992')],
  ['a body and none', {}, { body: null }],
  ['a body that says null and none', json('null'), { body: null }],
  ['an empty object and none', json('{}'), { body: null }],
  ['keys that are there twice', json('{"a":1,"a":2}'), json('{"a":2}')],
  ['the spelling of what is not JSON', json('{"a":1,}'), json('{ "a":1,}')],
  ['JSON and the same text', {}, { contentType: 'text/plain' }],
  ['JSON and bytes of no type', {}, { contentType: undefined }],
  ['the spelling of a text', json('{"a":1}', 'text/plain'), json('{ "a":1}', 'text/plain')],
  ['the types of the same bytes', json('a=1', 'text/plain'), json('a=1', 'application/x-www-form-urlencoded')],
  ['JSON in another charset', {}, { contentType: 'application/json; charset=latin1' }],
  ['compressed and plain', {}, gzipped('{"amount":5000,"currency":"eur"}')],
  ['two compressed bodies', gzipped('1'), gzipped('2')],
  ['how bytes are compressed', gzipped('1'), { ...gzipped('1'), contentEncoding: 'br' }],
  ['bytes that are not UTF-8', { body: Uint8Array.of(0x22, 0xff, 0x22) }, { body: Uint8Array.of(0x22, 0xfe, 0x22) }],
  ['the values of a form', form('one', 'x'), form('one', 'y')],
  ['a delimiter within a value', form('one', 'x'), form('one', 'x\r\n--one\r\n')],
  ['a boundary that is part of a value', form('one', 'x--one'), form('two', 'x--two')],
  ['where a part ends', rawForm('--one\r\nA\r\n--one\r\nB'), rawForm('--one\r\nA\r\n\r\nB')],
  ['a form without its boundary', form('one', 'x'), { ...form('one', 'x'), contentType: 'multipart/form-data' }],
]

describe('does not depend on', () => {
  it.each(same)('%s', async (_, one, other) => expect(await fingerprint(one)).toBe(await fingerprint(other)))
})

describe('depends on', () => {
  it.each(different)('%s', async (_, one, other) => expect(await fingerprint(one)).not.toBe(await fingerprint(other)))
})

it('is the same for a parsed body as for its bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const text = JSON.stringify(value)
      expect(await fingerprint({ body: { json: JSON.parse(text) } })).toBe(await fingerprint(json(text)))
    }),
  )
})

it('takes binary files in a form, byte by byte', async () => {
  const file = (boundary: string, last: number) => {
    const content = Uint8Array.from({ length: 256 }, (_, index) => (index === 255 ? last : index))
    const parts = [bytes(`--${boundary}\r\n\r\n`), content, bytes(`\r\n--${boundary}--`)]
    return { contentType: `multipart/form-data; boundary=${boundary}`, body: new Uint8Array(Buffer.concat(parts)) }
  }
  expect(await fingerprint(file('a', 255))).toBe(await fingerprint(file('b', 255)))
  expect(await fingerprint(file('a', 255))).not.toBe(await fingerprint(file('a', 254)))
})

describe('JSON of more than 256 KiB', () => {
  const MOST = 256 * 1024

  it('is compared by its bytes, and up to there by what it says', async () => {
    expect(await fingerprint(ofSize(MOST, 'a first'))).toBe(await fingerprint(ofSize(MOST, 'b first')))
    expect(await fingerprint(ofSize(MOST + 1, 'a first'))).not.toBe(await fingerprint(ofSize(MOST + 1, 'b first')))
    expect(await fingerprint(ofSize(MOST + 1, 'a first'))).toBe(await fingerprint(ofSize(MOST + 1, 'a first')))
  })

  it('is compared as it was parsed where a parser has its bytes', async () => {
    const [one, same, other] = (['a first', 'a first', 'b first'] as const).map((order) =>
      fingerprint(parsed(ofSize(MOST + 1, order))),
    )
    expect(await one).toBe(await same)
    expect(await one).not.toBe(await other)
    // A client that spells as JSON.stringify does is known again wherever the parser stands.
    expect(await one).toBe(await fingerprint(ofSize(MOST + 1, 'a first')))
  })
})

describe('what is hashed', () => {
  const hashed = (changes: Partial<FingerprintRequest>) => {
    const { texts, bytes } = fingerprintInput({ ...JSON_REQUEST, ...changes })
    return [texts.slice(4), bytes === null ? null : new TextDecoder().decode(bytes)]
  }
  const FORM = '--one\r\nA\r\n--one--'
  const ofType = (contentType: string, text: string) => hashed({ contentType, body: bytes(text) })

  // Fingerprints are stored: whoever changes what is expected here counts up the version of fingerprints.
  it('begins with the scope, as a salt, and the head of the request', () => {
    const { texts } = fingerprintInput({ ...JSON_REQUEST, query: 'a=1' })
    expect(texts.slice(0, 4)).toEqual(['tenant-1', 'POST', '/charges', 'a=1'])
  })

  it('says how the bytes of a body are meant', () => {
    expect(hashed({ body: null })).toEqual([['none'], null])
    expect(ofType('application/json', ' [1] ')).toEqual([['json'], '[1]'])
    expect(hashed({ body: { json: [1] } })).toEqual([['json'], '[1]'])
    expect(ofType('text/plain', 'a')).toEqual([['bytes', 'text/plain', ''], 'a'])
    expect(fingerprintInput({ ...JSON_REQUEST, ...ofSize(256 * 1024 + 1, 'a first') }).texts.slice(4)).toEqual([
      'json as spelled',
    ])
  })

  it('has the lengths of the parts of a form in place of its boundary', () => {
    expect(ofType('multipart/form-data; boundary=one', FORM)).toEqual([['form', '0,5,2'], '\r\nA\r\n--'])
    expect(ofType('multipart/form-data; boundary=one', '--one')).toEqual([['form', '0,0'], ''])
  })

  it('is the bytes as they are where their type or their encoding says no more', () => {
    const encoded = { contentEncoding: 'X-Own' }
    const form = 'multipart/form-data; boundary=one'
    expect(hashed({ ...encoded, body: bytes('[1]') })).toEqual([['bytes', 'application/json', 'x-own'], '[1]'])
    expect(hashed({ ...encoded, contentType: form, body: bytes(FORM) })).toEqual([
      ['bytes', 'multipart/form-data', 'x-own'],
      FORM,
    ])
    expect(ofType('multipart/mixed; boundary=one', FORM)).toEqual([['bytes', 'multipart/mixed', ''], FORM])
    expect(ofType(form, 'no boundary')).toEqual([['bytes', 'multipart/form-data', ''], 'no boundary'])
    expect(ofType('multipart/form-data', '--undefined')).toEqual([['bytes', 'multipart/form-data', ''], '--undefined'])
    expect(ofType('/a/b+json', '[1]')).toEqual([['bytes', '/a/b+json', ''], '[1]'])
    expect(ofType('a/b+jsonx', '[1]')).toEqual([['bytes', 'a/b+jsonx', ''], '[1]'])
  })

  it('is the canonical form of a parsed body up to the limit', () => {
    expect(hashed(parsed(ofSize(256 * 1024, 'a first')))[0]).toEqual(['json'])
    expect(hashed(parsed(ofSize(256 * 1024 + 1, 'a first')))[0]).toEqual(['json as spelled'])
  })
})

describe('how a body was seen', () => {
  const seen = (changes: Partial<FingerprintRequest>) => fingerprintInput({ ...JSON_REQUEST, ...changes }).seen
  const LARGE = 256 * 1024 + 1
  const FORM_TYPE = 'application/x-www-form-urlencoded'

  it.each<[string, Partial<FingerprintRequest>, string]>([
    ['small JSON', {}, 'bytes-json'],
    ['no body', { body: null }, 'bytes-json'],
    ['JSON that is large', ofSize(LARGE, 'a first'), 'bytes'],
    ['JSON with a long number', json('[9007199254740993]'), 'bytes'],
    ['JSON in which readers disagree', json('{"a":1,"a":2}'), 'bytes'],
    ['JSON that is compressed', gzipped('{}'), 'bytes'],
    ['a form', form('one', 'x'), 'bytes'],
    ['a text', json('a', 'text/plain'), 'bytes'],
    ['small JSON from a parser', { body: { json: { amount: 5000 } } }, 'parsed-json'],
    ['small JSON with BigInts from a parser', { body: { json: { amount: 5000n } } }, 'parsed-json'],
    ['nothing from a parser', { body: { json: undefined } }, 'parsed-json'],
    ['large JSON from a parser', parsed(ofSize(LARGE, 'a first')), 'parsed'],
    ['a number that a parser may have rounded', { body: { json: [2 ** 60] } }, 'parsed'],
    ['a BigInt that no number is', { body: { json: [2n ** 60n] } }, 'parsed-bigint'],
    ['half a surrogate pair from a parser', { body: { json: ['\ud800'] } }, 'parsed'],
    ['a form from a parser', { contentType: FORM_TYPE, body: { json: { a: '1' } } }, 'parsed'],
  ])('%s', (_, changes, is) => expect(seen(changes)).toBe(is))

  it('has the same fingerprint as bytes and with BigInts', async () => {
    const text = '{"id":9007199254740993}'
    expect(await fingerprint({ body: { json: { id: 9007199254740993n } } })).toBe(await fingerprint(json(text)))
  })
})
