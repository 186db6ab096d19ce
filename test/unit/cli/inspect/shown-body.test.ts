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

  const XML = 'application/xml'
  const form = 'application/x-www-form-urlencoded'
  const multipart = '--b\r\nContent-Disposition: form-data; name="user[password]"\r\n\r\nMPPASS\r\n--b--\r\n'
  it.each([
    ['an XML element', '<a:Password x="1">GEHEIM</a:Password><n>1</n>', XML, '<n>1</n>'],
    ['an XML attribute', '<user password="GEHEIM" n="1"/>', XML, 'n="1"'],
    ['a name of its own in XML', '<dateOfBirth>GEHEIM</dateOfBirth>', XML, 'dateOfBirth'],
    ['an IBAN in XML', '<To>DE89 3704 0044 0532 0130 00</To>', XML, '<To>'],
    ['a field of a multipart form', multipart.replace('MPPASS', 'GEHEIM'), 'multipart/form-data; boundary=b', 'user'],
    ['a field of a field', 'card[number]=GEHEIM&a=1', form, 'a=1'],
    ['a field of an encoded field', 'card%5Bcvc%5D=GEHEIM&a=1', form, 'a=1'],
    ['lines of JSON', '{"cardNumber":"GEHEIM"}\n{"date_of_birth":"GEHEIM","a":1}\n', 'application/x-ndjson', '"a":1'],
    ['a card number under any name', '{"card":{"number":"4111 1111 1111 1111"},"a":1}', 'application/json', '"a": 1'],
    ['a card number as a number', '{"number":4111111111111111,"a":1}', 'application/json', '"a": 1'],
    ['a card number in text', 'paid with 4242-4242-4242-4242, a=1', 'text/plain', 'a=1'],
    ['a name of its own in text', 'date_of_birth: GEHEIM, a=1', 'text/plain', 'a=1'],
  ])('has no value of %s', (_, body, type, kept) => {
    const text = shown(body, type)
    expect(text).not.toMatch(/GEHEIM|DE89|4111|4242/)
    expect(text).toContain('***')
    expect(text).toContain(kept)
  })

  it('keeps numbers that are none of a card, and times', () => {
    const value = { at: 1_735_732_800_000, order: '4111111111111112', id: '6f1f1f0e-0000-4000-8000-000000000001' }
    expect(JSON.parse(shown(JSON.stringify(value)))).toEqual(value)
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
