import { describe, expect, it } from 'vitest'
import { secretNames, shownBody, shownMessage } from '../../../../src/cli/inspect/shown-body.ts'

const isSecret = secretNames(['date_of_birth'])
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const shown = (text: string, type = 'application/json'): string =>
  shownBody({ headers: [['content-type', type]], body: bytes(text) }, isSecret).text

describe('a body in the inspector', () => {
  it('is JSON without the values of secret fields, however deep', () => {
    const value = {
      amount: 5,
      user: { password: 'p', dateOfBirth: '1.1.', list: [{ apiKey: 'k' }] },
      cvc: 123,
      iban: 'DE1',
    }
    expect(JSON.parse(shown(JSON.stringify(value)))).toEqual({
      amount: 5,
      user: { password: '***', dateOfBirth: '***', list: [{ apiKey: '***' }] },
      cvc: '***',
      iban: '***',
    })
  })

  it('hides a value that is plainly a credential under any name', () => {
    const text = shown(
      JSON.stringify({ note: 'Bearer abcdef', link: 'https://u:p@x.example/?token=t', tag: 'sk_live_1234' }),
    )
    expect(JSON.parse(text)).toEqual({ note: '***', link: 'https://x.example/?token=***', tag: '***' })
  })

  it('is taken for JSON whatever its type says', () => {
    expect(shown('{"secret":"s"}', 'text/plain')).toBe('{\n  "secret": "***"\n}')
  })

  it('is a form without the values of secret fields', () => {
    const type = 'application/x-www-form-urlencoded'
    expect(shown('a=1&card_number=4242&api%5Fkey=k', type)).toBe('a=1&card_number=***&api%5Fkey=***')
  })

  it('is text without credentials, and bytes are counted', () => {
    expect(shown('password: p', 'text/plain')).toBe('password: ***')
    const body = Uint8Array.of(0xff, 0xfe)
    expect(shownBody({ headers: [], body }, isSecret).text).toBe('2 bytes that are no text')
  })

  it('is cut where it is long', () => {
    const { text, cut } = shownBody({ headers: [], body: bytes('x'.repeat(100_000)) }, isSecret)
    expect([text.length, cut]).toEqual([65_536, true])
  })
})

describe('the head of a message in the inspector', () => {
  it('has no value of a credential', () => {
    const headers = [
      ['content-type', 'text/plain'],
      ['x-api-key', 'k'],
      ['location', '/next?session=1'],
    ] as const
    expect(shownMessage({ headers, withheld: ['authorization'], body: bytes('abc') })).toEqual({
      headers: [
        ['content-type', 'text/plain'],
        ['x-api-key', '***'],
        ['location', '***'],
      ],
      withheld: ['authorization'],
      bodyBytes: 3,
      bodyOmitted: false,
    })
  })
})
