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
    { what: 'an XML element', body: '<a:Password x="1">GEHEIM</a:Password><n>1</n>', type: XML, kept: '<n>1</n>' },
    { what: 'an XML attribute', body: '<user password="GEHEIM" n="1"/>', type: XML, kept: 'n="1"' },
    { what: 'a name of its own in XML', body: '<dateOfBirth>GEHEIM</dateOfBirth>', type: XML, kept: 'dateOfBirth' },
    { what: 'an IBAN in XML', body: '<To>DE89 3704 0044 0532 0130 00</To>', type: XML, kept: '<To>' },
    {
      what: 'a field of a multipart form',
      body: multipart.replace('MPPASS', 'GEHEIM'),
      type: 'multipart/form-data; boundary=b',
      kept: 'user',
    },
    { what: 'a field of a field', body: 'card[number]=GEHEIM&a=1', type: form, kept: 'a=1' },
    { what: 'a field of an encoded field', body: 'card%5Bcvc%5D=GEHEIM&a=1', type: form, kept: 'a=1' },
    {
      what: 'lines of JSON',
      body: '{"cardNumber":"GEHEIM"}\n{"date_of_birth":"GEHEIM","a":1}\n',
      type: 'application/x-ndjson',
      kept: '"a":1',
    },
    {
      what: 'a card number under any name',
      body: '{"card":{"number":"4111 1111 1111 1111"},"a":1}',
      type: 'application/json',
      kept: '"a": 1',
    },
    {
      what: 'a card number as a number',
      body: '{"number":4111111111111111,"a":1}',
      type: 'application/json',
      kept: '"a": 1',
    },
    { what: 'a card number in text', body: 'paid with 4242-4242-4242-4242, a=1', type: 'text/plain', kept: 'a=1' },
    { what: 'a name of its own in text', body: 'date_of_birth: GEHEIM, a=1', type: 'text/plain', kept: 'a=1' },
  ])('has no value of $what', ({ body, type, kept }) => {
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
