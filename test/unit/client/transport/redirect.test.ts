import { describe, expect, test } from 'vitest'
import { firstHop, followRedirect } from '../../../../src/client/transport/redirect.ts'
import { transportRequest } from '../../../support/transport-request.ts'

const from = firstHop(transportRequest('https://api.example/a/b?c#part'))
const rules = { method: 'GET', redirect: 'follow', trusts: () => true, publicHeaders: [] } as const

describe('a location', () => {
  test.each([
    ['a path', '/x', 'https://api.example/x'],
    ['a relative path', 'x', 'https://api.example/a/x'],
    ['a path with a fragment', '/x#other', 'https://api.example/x'],
    ['UTF-8 that was read as Latin-1', '/caf\u00c3\u00a9', 'https://api.example/caf%C3%A9'],
    ['Latin-1 that is no UTF-8', '/caf\u00e9', 'https://api.example/caf%C3%A9'],
    ['text beyond Latin-1', '/\u20ac', 'https://api.example/%E2%82%AC'],
    ['text beyond sixteen bits', '/\u{1f600}', 'https://api.example/%F0%9F%98%80'],
    ['a surrogate without its other half', '/\ud83d', 'https://api.example/%EF%BF%BD'],
  ])('may be %s', (_, location, expected) => {
    const next = followRedirect(from, { status: 302, location }, rules)
    expect(next && 'url' in next && next.url.href).toBe(expected)
  })

  test.each([
    ['nonsense', 'http://[::'],
    ['of another scheme', 'file:///etc/passwd'],
    ['with credentials', 'https://user:word@api.example/'],
  ])('%s is a fault', (_, location) => {
    const fault = { kind: 'fault', code: 'bad-redirect', transient: true }
    const follow = (method: string) => followRedirect(from, { status: 302, location }, { ...rules, method })
    expect(follow('POST')).toMatchObject({ ...fault, mayHaveArrived: true })
    expect(follow('GET')).toMatchObject({ ...fault, mayHaveArrived: false })
  })
})

describe('an origin that is not trusted', () => {
  const headers = [
    ['accept', 'text/csv'],
    ['authorization', 'Bearer x'],
    ['x-api-key', 'secret'],
  ] as const
  const publicHeaders = [['accept', 'text/csv']] as const
  const away = { status: 302, location: 'https://files.example/report' }
  const asked = (method: string) => ({ ...rules, method, publicHeaders, trusts: () => false })

  test.each(['GET', 'HEAD', 'OPTIONS'])('gets a %s, with nothing that is not public', (method) => {
    expect(followRedirect({ ...from, method, headers }, away, asked(method))).toMatchObject({
      method,
      url: { href: 'https://files.example/report' },
      headers: publicHeaders,
    })
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('gets no %s, and not the GET that came of one', (method) => {
    const fault = { code: 'untrusted-redirect', mayHaveArrived: true, transient: true }
    expect(followRedirect({ ...from, method, headers }, away, asked(method))).toMatchObject(fault)
    expect(followRedirect({ ...from, method: 'GET', redirects: 1 }, away, asked(method))).toMatchObject(fault)
  })
})

test('the URL of an answer has no fragment', () => {
  expect(from.url.href).toBe('https://api.example/a/b?c')
})
