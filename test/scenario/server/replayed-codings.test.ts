import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { reply } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const TEXT = JSON.stringify({ ordered: 'a book', twice: 'a book' })

/** A handler behind whose answer a compression stands, for a caller that accepts it. */
function compressing(coding: string, body: Uint8Array, headers: Record<string, string> = {}) {
  const shop = protectedShop()
  const handler = shop.serve(async () => {
    return reply(body, {
      status: 201,
      headers: { 'content-type': 'application/json', 'content-encoding': coding, etag: '"1"', ...headers },
    })
  })
  const request = (acceptEncoding: string | undefined): Promise<Response> =>
    handler(ask('k', { headers: acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding } }))
  return { shop, request }
}

describe('a replay of a compressed answer', () => {
  it.each([undefined, '', 'identity', 'br', 'gzip;q=0', '*;q=0', 'br, *;q=0.0'])(
    'is not compressed for a caller with Accept-Encoding %j',
    async (acceptEncoding) => {
      const { request } = compressing('gzip', gzipSync(TEXT), { 'content-digest': 'sha-256=:YQ==:' })
      const first = await request('gzip')
      expect(first.headers.get('content-encoding')).toBe('gzip')
      const again = await request(acceptEncoding)
      expect([again.status, await again.text()]).toEqual([201, TEXT])
      expect(Object.fromEntries(again.headers)).toEqual({
        'content-type': 'application/json',
        etag: 'W/"1"',
        vary: 'Accept-Encoding',
        'idempotency-replayed': 'true',
        'idempotency-retention': '86400',
      })
    },
  )

  it.each(['gzip', 'br, GZIP;q=0.5', 'x-gzip', '*', 'br;q=0, *;q=0.1'])(
    'is what it was, byte for byte, for a caller with Accept-Encoding %j',
    async (acceptEncoding) => {
      const { request } = compressing('gzip', gzipSync(TEXT), { vary: 'Accept-Encoding' })
      const first = new Uint8Array(await (await request('gzip')).arrayBuffer())
      const again = await request(acceptEncoding)
      const bytes = new Uint8Array(await again.arrayBuffer())
      expect([again.headers.get('content-encoding'), again.headers.get('etag')]).toEqual(['gzip', '"1"'])
      expect(bytes).toEqual(first)
      expect(gunzipSync(bytes).toString()).toBe(TEXT)
    },
  )

  it.each([
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  ])('is decoded from %s', async (coding, body) => {
    const { request } = compressing(coding, body)
    await request('gzip, br, deflate')
    expect(await (await request('identity')).text()).toBe(TEXT)
  })

  it('is without its body if that can not be decoded', async () => {
    for (const [coding, body] of [
      ['secret', new TextEncoder().encode('?')],
      ['gzip', new TextEncoder().encode('no gzip')],
    ] as const) {
      const { request } = compressing(coding, body)
      await request(coding)
      const again = await request('identity')
      expect([again.status, await again.text(), again.headers.get('idempotency-body')]).toEqual([201, '', 'omitted'])
      expect([again.headers.get('content-encoding'), again.headers.get('content-type')]).toEqual([
        null,
        'application/json',
      ])
    }
  })

  it('leaves `Vary` as it is if that names the field already', async () => {
    const { request } = compressing('gzip', gzipSync(TEXT), { vary: 'Origin, accept-encoding' })
    await request('gzip')
    expect((await request(undefined)).headers.get('vary')).toBe('Origin, accept-encoding')
  })

  it('is decoded for a duplicate that has waited, and for an atomic handler', async () => {
    const shop = protectedShop({ inFlight: 'wait' })
    const zipped = () => reply(gzipSync(TEXT), { headers: { 'content-encoding': 'gzip' } })
    const atomic = shop.ledger.atomic(async () => zipped())
    const answers = await Promise.all([atomic(ask('k')), atomic(ask('k'))])
    const replay = answers.find(({ headers }) => headers.get('idempotency-replayed')) ?? (await atomic(ask('k')))
    expect(await replay.text()).toBe(TEXT)
  })
})
