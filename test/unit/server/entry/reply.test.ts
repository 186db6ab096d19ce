import { describe, expect, it } from 'vitest'
import { isReply, json, reply, replyOf } from '../../../../src/server/entry/reply.ts'

const text = (body: Uint8Array | null): string | null => body && new TextDecoder().decode(body)

describe('json()', () => {
  it('writes the value as JSON, with its type, and 200 unless told otherwise', () => {
    const answer = json({ a: 1 })
    expect([answer.status, answer.headers, text(answer.body)]).toEqual([
      200,
      [['content-type', 'application/json']],
      '{"a":1}',
    ])
    expect(json(null, { status: 201 }).status).toBe(201)
  })

  it('keeps the type that was given, and lower-cases names', () => {
    const answer = json([], { headers: { 'Content-Type': 'application/vnd.api+json', Location: '/a' } })
    expect(answer.headers).toEqual([
      ['content-type', 'application/vnd.api+json'],
      ['location', '/a'],
    ])
  })

  it('adds its type to the other headers that were given', () => {
    expect(json([], { headers: { location: '/a' } }).headers).toEqual([
      ['content-type', 'application/json'],
      ['location', '/a'],
    ])
  })

  it.each([undefined, () => {}, Symbol('s')])('refuses %s, which JSON cannot say', (value) => {
    expect(() => json(value)).toThrow('JSON cannot say')
  })
})

describe('reply()', () => {
  it('takes text, bytes or nothing', () => {
    expect(text(reply('Grüße').body)).toBe('Grüße')
    expect(reply('a').headers).toEqual([['content-type', 'text/plain;charset=UTF-8']])
    expect(reply(new Uint8Array([0, 255])).body).toEqual(new Uint8Array([0, 255]))
    expect([reply(null, { status: 204 }).body, reply(null).headers]).toEqual([null, []])
  })

  it('keeps the type of a text that was given, and adds one to other headers', () => {
    expect(reply('a', { headers: { 'content-type': 'text/csv' } }).headers).toEqual([['content-type', 'text/csv']])
    expect(reply('a', { headers: { location: '/a' } }).headers).toEqual([
      ['content-type', 'text/plain;charset=UTF-8'],
      ['location', '/a'],
    ])
  })

  it('may have any status from 200 to 599', () => {
    expect([200, 599].map((status) => reply(null, { status }).status)).toEqual([200, 599])
  })

  it('is made of an answer that is there in plain values', () => {
    const plain = { status: 201, headers: [['a', 'b']], body: new Uint8Array([1]) } as const
    expect(replyOf({ ...plain, more: 1 } as typeof plain)).toEqual(plain)
  })

  it('is known by a mark that every copy of the package shares', () => {
    expect(isReply({ [Symbol.for('holdfast.reply')]: true })).toBe(true)
  })

  it('is not changed by whoever changes the bytes later', () => {
    const bytes = new Uint8Array([1, 2])
    const answer = reply(bytes)
    bytes[0] = 9
    expect(answer.body).toEqual(new Uint8Array([1, 2]))
  })

  it('keeps each cookie a field of its own', () => {
    const headers = new Headers()
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    expect(reply(null, { headers }).headers).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
  })

  it.each([99, 199, 600, 200.5, Number.NaN, '200' as never])('refuses the status %s', (status) => {
    expect(() => reply(null, { status })).toThrow('from 200 to 599')
  })

  it('is told apart from everything that only looks like it', () => {
    expect([isReply(reply(null)), isReply(json(1)), isReply(replyOf(reply(null)))]).toEqual([true, true, true])
    for (const other of [{ status: 200, headers: [], body: null }, null, undefined, 'reply', new Response()]) {
      expect(isReply(other)).toBe(false)
    }
  })
})
