import { describe, expect, it } from 'vitest'
import { type RequestHead, refuseRequest } from '../../../../src/cli/inspect/admit-request.ts'

const TOKEN = 't'.repeat(43)
const terms = { port: 4000, token: TOKEN, readOnly: false }
const read: RequestHead = {
  method: 'GET',
  path: '/api/overview',
  host: '127.0.0.1:4000',
  origin: undefined,
  authorization: `Bearer ${TOKEN}`,
  contentType: undefined,
}
const change: RequestHead = {
  ...read,
  method: 'POST',
  path: '/api/cancel',
  origin: 'http://127.0.0.1:4000',
  contentType: 'application/json',
}
const statusOf = (head: RequestHead, more: Partial<typeof terms> = {}) =>
  refuseRequest(head, { ...terms, ...more })?.status

describe('a request to the inspector', () => {
  it('goes on with the token, from its own page', () => {
    expect(statusOf(read)).toBeUndefined()
    expect(statusOf(change)).toBeUndefined()
    expect(statusOf({ ...change, host: 'localhost:4000', origin: 'http://localhost:4000' })).toBeUndefined()
  })

  it('gets the files of the page without a token: they hold nothing', () => {
    expect(statusOf({ ...read, path: '/', authorization: undefined })).toBeUndefined()
    expect(statusOf({ ...read, path: '/', authorization: undefined, method: 'POST' })).toBe(405)
  })

  it.each([
    ['another name that leads to this machine', 'evil.example:4000'],
    ['another port', '127.0.0.1:4001'],
    ['no port', '127.0.0.1'],
    ['none', undefined],
  ])('is refused with a Host that is %s, whatever it brings', (_, host) => {
    expect(statusOf({ ...read, host })).toBe(403)
    expect(statusOf({ ...read, host, path: '/' })).toBe(403)
  })

  it.each([undefined, '', TOKEN, `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `bearer ${TOKEN.slice(1)}`])(
    'is refused with the authorization %j',
    (authorization) => {
      expect(statusOf({ ...read, authorization })).toBe(401)
      expect(statusOf({ ...change, authorization })).toBe(401)
    },
  )

  it.each([undefined, 'null', 'https://evil.example', 'http://127.0.0.1:4001', 'https://127.0.0.1:4000'])(
    'changes nothing from the origin %j',
    (origin) => expect(statusOf({ ...change, origin })).toBe(403),
  )

  it('changes nothing as a form would be sent, nor by another method', () => {
    expect(statusOf({ ...change, contentType: 'text/plain' })).toBe(415)
    expect(statusOf({ ...change, contentType: undefined })).toBe(415)
    expect(statusOf({ ...change, method: 'DELETE' })).toBe(405)
  })

  it('changes nothing where the inspector is read-only', () => {
    expect(statusOf(change, { readOnly: true })).toBe(403)
    expect(statusOf(read, { readOnly: true })).toBeUndefined()
  })
})
