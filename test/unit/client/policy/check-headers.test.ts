import { describe, expect, test } from 'vitest'
import { checkHeaderName, checkHeaders } from '../../../../src/client/policy/check-headers.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'

const refusalOf = (given: unknown): string => {
  try {
    checkHeaders('headers', given as never)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error('These headers were taken')
}

describe('headers', () => {
  test('are pairs with names in lower case and trimmed values, whatever they come as', () => {
    const expected = [['x-own', 'a b']]
    expect(checkHeaders('headers', { 'X-Own': ' a b\t' })).toEqual(expected)
    expect(checkHeaders('headers', [['X-Own', 'a b']])).toEqual(expected)
    expect(checkHeaders('headers', new Headers({ 'X-Own': 'a b' }))).toEqual(expected)
    expect(checkHeaders('headers', new Map([['X-Own', 'a b']]) as never)).toEqual(expected)
  })

  test('leave out what is undefined', () => {
    expect(checkHeaders('headers', { a: undefined, b: '1' })).toEqual([['b', '1']])
  })

  test.each(['', 'a\tb', ' ', '~', '\u0080', '\u00ff'])('may have the value %j', (value) => {
    expect(checkHeaders('headers', { a: value })).toEqual([['a', value.trim()]])
  })

  test.each(['\n', 'a\r\nb', '\u0000', '\u001f', '\u007f', '\u0100'])('can not carry the value %j', (value) => {
    expect(refusalOf({ a: value })).toBe(
      'In the option `headers` the value of the header `a` has characters that a header cannot carry, such as a line break.',
    )
  })

  test.each([1, null, true, {}])('have no value that is %j', (value) => {
    expect(refusalOf({ a: value })).toBe('In the option `headers` the value of the header `a` is not a string.')
  })

  test.each([
    [{ 'a b': '1' }, ' (it begins with `a`)'],
    [{ 'X-Own-2: secret': '1' }, ' (it begins with `X-Own-2`)'],
    [{ [`${'x'.repeat(50)} `]: '1' }, ` (it begins with \`${'x'.repeat(40)}\`)`],
    [{ ' a': '1' }, ''],
    [{ '': '1' }, ''],
    [[[1, 'a']], ''],
  ])('show no more of a wrong name than can be no value: %j', (given, shown) => {
    expect(refusalOf(given)).toBe(`The option \`headers\` has a header name that is not valid${shown}.`)
  })

  test.each([{ given: [['a']] }, { given: [['a', 'b', 'c']] }, { given: ['ab'] }, { given: [1] }])(
    'are no pairs: $given',
    ({ given }) => {
      expect(refusalOf(given)).toContain('The option `headers` must be made of [name, value] pairs')
    },
  )

  test.each([1, 'a: b', true, null])('are not %j', (given) => {
    expect(refusalOf(given)).toContain('The option `headers` must be headers: an object, pairs, or Headers')
  })
})

describe('the name of a header', () => {
  test('is put into lower case', () => {
    expect(checkHeaderName('keyHeader.name', 'X-Own')).toBe('x-own')
  })

  test.each(['', 'a b', 1, undefined])('is not %j', (name) => {
    expect(() => checkHeaderName('keyHeader.name', name)).toThrow(
      'The option `keyHeader.name` must be a header name (letters, digits and hyphens)',
    )
  })
})
