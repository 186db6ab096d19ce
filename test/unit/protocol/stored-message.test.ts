import { describe, expect, test } from 'vitest'
import { isResponse, readableHeaders, type StoredResponse, toResponse } from '../../../src/protocol/stored-message.ts'

function stored(changes: Partial<StoredResponse> = {}): StoredResponse {
  const body = new TextEncoder().encode('body')
  const url = 'https://api.example/a'
  return { status: 200, statusText: 'OK', headers: [], body, bodyOmitted: false, url, redirected: false, ...changes }
}

describe('a response made of stored values', () => {
  test('has all of them', async () => {
    const headers = [
      ['x-own', '1'],
      ['x-own', '2'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ] as const
    const response = toResponse(stored({ status: 201, statusText: 'Created', headers, redirected: true }))
    const { status, statusText, url, redirected } = response
    expect({ status, statusText, url, redirected }).toEqual({
      status: 201,
      statusText: 'Created',
      url: 'https://api.example/a',
      redirected: true,
    })
    expect(response.headers.get('x-own')).toBe('1, 2')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(await response.text()).toBe('body')
  })

  test.each([100, 101, 103, 199, 204, 205, 304, 599, 600, 999, 0, -1, 65_736, Number.NaN])(
    'has status %d',
    (status) => {
      expect(toResponse(stored({ status })).status).toBe(status)
    },
  )

  test.each([200, 299, 404, 599])('is made with status %d itself, so that a copy has it too', (status) => {
    const response = toResponse(stored({ status }))
    expect(response.clone().status).toBe(status)
    expect(response.ok).toBe(status < 300)
  })

  test.each([
    ['plain words', 'Not Found', 'Not Found'],
    ['nothing', '', ''],
    ['a tab', 'a\tb', 'a\tb'],
    ['Latin-1', 'gr\u00e9t', 'gr\u00e9t'],
    ['text beyond Latin-1', 'gr\u00e9\u20act', ''],
    ['a control character', 'O\u0001K', ''],
    ['a null', 'O\u0000K', ''],
    ['a delete', 'O\u007fK', ''],
    ['a line break', 'OK\r\nx-own: 1', ''],
    ['half a surrogate', 'O\ud83dK', ''],
  ])('keeps a reason phrase that it can hold: %s', async (_, statusText, expected) => {
    const response = toResponse(stored({ statusText }))
    expect(response.statusText).toBe(expected)
    expect(await response.text()).toBe('body')
  })

  test.each([
    ['a null in a value', 'x-bad', 'a\u0000b'],
    ['a line break in a value', 'x-bad', 'a\r\nb'],
    ['a value beyond Latin-1', 'x-bad', '\u20ac'],
    ['a space in a name', 'x bad', '1'],
    ['a name beyond ASCII', 'x-b\u00e4d', '1'],
    ['a name beyond Latin-1', 'x-\u20ac', '1'],
    ['no name', '', '1'],
    ['a line break in a name', 'x\r\nbad', '1'],
  ])('leaves out a field that it can not hold, and only that: %s', async (_, name, value) => {
    const headers = [
      ['x-before', '1'],
      [name, value],
      ['x-after', '2'],
    ] as const
    const response = toResponse(stored({ headers }))
    expect([...response.headers]).toEqual([
      ['x-after', '2'],
      ['x-before', '1'],
    ])
    expect(await response.text()).toBe('body')
  })
})

describe('what of an answer is not held', () => {
  test('is the body where it is a stream', async () => {
    const rest = new Blob(['streamed']).stream()
    expect(isResponse(rest)).toBe(false)
    const response = toResponse(stored({ body: null }), rest)
    expect(response.url).toBe('https://api.example/a')
    expect(await response.text()).toBe('streamed')
  })

  test('is the answer itself where it is a Response, of whatever class', () => {
    const foreign = { headers: new Headers(), status: 200 } as Response
    expect(isResponse(foreign)).toBe(true)
    expect(toResponse(stored(), foreign)).toBe(foreign)
  })
})

test('headers are read less the fields that they can not hold', () => {
  const fields = [
    ['x-own', '1'],
    ['x bad', '2'],
    ['x-own', '3'],
  ] as const
  expect([...readableHeaders(fields)]).toEqual([['x-own', '1, 3']])
})
