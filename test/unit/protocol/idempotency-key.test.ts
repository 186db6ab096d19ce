import { describe, expect, test } from 'vitest'
import { formatKey, isValidKey, parseKey } from '../../../src/protocol/idempotency-key.ts'

const UUID = '0b6ad9b2-44c1-4f1c-8f6e-0f4f6a0f5a11'

describe('isValidKey', () => {
  test.each([UUID, 'a', 'payment:charge:abc-123', '!', '~', 'a'.repeat(255), '"quoted"'])('takes %s', (key) => {
    expect(isValidKey(key)).toBe(true)
  })

  test.each([
    '',
    ' ',
    'a b',
    'a'.repeat(256),
    'é',
    '\u007f',
    'a\n',
    'a\r\nX-Evil: 1',
    '\u0000',
    'ключ',
    42,
    null,
    undefined,
  ])('refuses %j', (key) => {
    expect(isValidKey(key)).toBe(false)
  })
})

describe('formatKey', () => {
  test('is bare, or quoted as a structured field', () => {
    expect(formatKey(UUID, 'bare')).toBe(UUID)
    expect(formatKey(UUID, 'structured')).toBe(`"${UUID}"`)
  })

  test('escapes quotes and backslashes', () => {
    expect(formatKey('a"b\\c', 'structured')).toBe('"a\\"b\\\\c"')
  })

  test('quotes a key that begins with a quote, which bare would read as another key', () => {
    expect(parseKey(formatKey('"a"', 'bare'))).toBe('"a"')
    expect(parseKey(formatKey('"a', 'bare'))).toBe('"a')
    expect(formatKey('a"', 'bare')).toBe('a"')
  })

  test('quotes a key with a blank, which bare would be none', () => {
    expect(formatKey('a b', 'bare')).toBe('"a b"')
    expect(parseKey(formatKey('a b', 'bare'))).toBe('a b')
  })
})

describe('parseKey', () => {
  test.each([
    [UUID, UUID],
    [`"${UUID}"`, UUID],
    [`  ${UUID}\t`, UUID],
    [`${UUID}  `, UUID],
    [` "${UUID}" `, UUID],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['a'.repeat(255), 'a'.repeat(255)],
    [`"${'a'.repeat(255)}"`, 'a'.repeat(255)],
    [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
    ['"a b"', 'a b'],
    ['"a, b"', 'a, b'],
    ['"k";v=1', 'k'],
    ['"k"; v=1.5;w="a;b\\"c";x;y=?0;z=:aGk=:;t=tok/en', 'k'],
    ['"k";version', 'k'],
    ['"k";v=a`b', 'k'],
  ])('reads %s', (value, key) => {
    expect(parseKey(value)).toBe(key)
  })

  test.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['an empty string', '""'],
    ['one that is too long', 'a'.repeat(256)],
    ['one that is too long in quotes', `"${'a'.repeat(256)}"`],
    ['a list of two', 'a, b'],
    ['a list of two quoted ones', '"a", "b"'],
    ['a list without blanks', '"a","b"'],
    ['a blank inside', 'a b'],
    ['a list of one with a parameter and another', '"a";v=1, "b"'],
    ['a parameter without a name', '"a";'],
    ['a parameter without a value', '"a";v='],
    ['a parameter in capitals', '"a";V=1'],
    ['a parameter that is not closed', '"a";v="1'],
    ['something behind it that is no parameter', '"a" b'],
    ['an open quote', '"a'],
    ['a lone quote', '"'],
    ['an unknown escape', '"a\\n"'],
    ['an escaped closing quote', '"a\\"'],
    ['a bare quote inside quotes', '"a"b"'],
    ['letters beyond ASCII', 'clé'],
    ['a line break', 'a\r\nb'],
    ['a NUL', 'a\u0000'],
  ])('refuses %s', (_, value) => {
    expect(parseKey(value)).toBeUndefined()
  })
})
