import { describe, expect, test } from 'vitest'
import { checkHeaders } from '../../../src/client/policy/check-headers.ts'
import { readRequest } from '../../../src/client/request-input.ts'

const settings = { baseUrl: new URL('https://api.test/v1/'), keyHeaderName: 'idempotency-key' }
const read = (url: string | URL, options = {}, method = 'POST') => readRequest({ method, url }, options, settings)

describe('readRequest', () => {
  test('resolves the URL, drops its fragment and knows its origin', () => {
    expect(read('charges?x=1#part')).toMatchObject({
      method: 'POST',
      url: 'https://api.test/v1/charges?x=1',
      origin: 'https://api.test',
    })
    expect(read('HTTP://OTHER.test:80/%7e').url).toBe('http://other.test/%7e')
  })

  test('keeps apart what may be written down and what may not', () => {
    const headers = { Accept: 'a', Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'y', 'Idempotency-Key': 'k' }
    const input = read('/a', { headers })
    expect(input.headers).toEqual([['accept', 'a']])
    expect(JSON.stringify(input.headers)).not.toMatch(/Bearer|a=b|y/)
    expect(JSON.stringify(input.credentials)).toMatch(/Bearer x/)
    expect(input.key).toBe('k')
  })

  test('normalises the names of standard methods only, as fetch does', () => {
    expect(['get', 'Post', 'patch', 'purge', 'QUERY'].map((method) => read('/a', {}, method).method)).toEqual([
      'GET',
      'POST',
      'PATCH',
      'purge',
      'QUERY',
    ])
    for (const method of ['', 'a b', 'CONNECT', 'Trace', 'track', 'GET\n'])
      expect(() => read('/a', {}, method)).toThrow(/method/i)
  })

  test('never shows a query or user info of a URL that it refuses', () => {
    for (const url of ['http://[?token=s3cret', 'https://user:s3cret@host:99999/', 'https://user:s3cret@host/']) {
      let message = ''
      try {
        readRequest({ method: 'GET', url }, {}, { ...settings, baseUrl: undefined })
      } catch (error) {
        message = (error as Error).message
      }
      expect(message).not.toBe('')
      expect(message).not.toContain('s3cret')
    }
  })
})

describe('checkHeaders', () => {
  test('takes objects, pairs, Headers and Maps, with lower-case names and trimmed values', () => {
    const expected = [['x-a', '1']]
    expect(checkHeaders('headers', { 'X-A': ' 1 ' })).toEqual(expected)
    expect(checkHeaders('headers', [['X-A', '1']])).toEqual(expected)
    expect(checkHeaders('headers', new Headers({ 'X-A': '1' }))).toEqual(expected)
    expect(checkHeaders('headers', new Map([['X-A', '1']]) as never)).toEqual(expected)
  })

  test('refuses whatever could end a line', () => {
    for (const value of ['a\nb', 'a\rb', 'a\0b', '\u2028', 'ä\u0100'])
      expect(() => checkHeaders('headers', { x: value })).toThrow(/cannot carry/)
    for (const name of ['', 'a b', 'a:', 'a\n', 'ä'])
      expect(() => checkHeaders('headers', { [name]: 'x' })).toThrow(/name/)
  })
})
