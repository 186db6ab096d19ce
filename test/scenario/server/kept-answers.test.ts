import { describe, expect, it } from 'vitest'
import { json, reply } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

async function told(response: Response) {
  return { status: response.status, body: [...new Uint8Array(await response.arrayBuffer())] }
}

describe('an answer is kept byte for byte', () => {
  it.each([
    ['spaced JSON', new TextEncoder().encode('{"b":1, "a":1.0}'), 200],
    ['binary', Uint8Array.of(0, 255, 10, 13, 128), 200],
    ['nothing', null, 204],
    ['an empty body', new Uint8Array(), 201],
    ['a refusal', new TextEncoder().encode('declined'), 402],
    ['a redirect', null, 303],
  ])('%s', async (_, body, status) => {
    const shop = protectedShop()
    const plain = shop.serve(async () => new Response(body, { status, headers: { 'x-kind': 'plain' } }))
    const inEffect = shop.serve(async (__, { effect }) =>
      effect(() => reply(body, { status, headers: { 'x-kind': 'effect' } })),
    )
    for (const [key, handler, kind] of [
      ['a', plain, 'plain'],
      ['b', inEffect, 'effect'],
    ] as const) {
      const first = await handler(ask(key))
      const second = await handler(ask(key))
      expect(second.headers.get('x-kind')).toBe(kind)
      expect(second.headers.get('idempotency-replayed')).toBe('true')
      expect(first.headers.get('idempotency-replayed')).toBeNull()
      expect(await told(second)).toEqual(await told(first))
    }
  })

  it('with its headers, less what belongs to one exchange', async () => {
    const shop = protectedShop({ dropHeaders: ['X-Request-Id'] })
    const handler = shop.serve(async () => {
      const headers = new Headers({
        location: '/orders/1',
        etag: '"1"',
        date: 'Mon, 16 Nov 2026 09:00:00 GMT',
        'x-request-id': 'r1',
        'idempotency-replayed': 'true',
        'idempotency-retention': '1',
      })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response('ok', { headers })
    })
    const first = await handler(ask('k'))
    const second = await handler(ask('k'))
    expect(first.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(second.headers.getSetCookie()).toEqual([])
    expect(Object.fromEntries(second.headers)).toEqual({
      'content-type': 'text/plain;charset=UTF-8',
      etag: '"1"',
      'idempotency-replayed': 'true',
      'idempotency-retention': '86400',
      location: '/orders/1',
    })
  })

  it('without the credentials that it carried', async () => {
    const shop = protectedShop()
    const secret = {
      authorization: 'Bearer t',
      'x-auth-token': 't',
      'www-authenticate': 'Basic realm="shop"',
      'proxy-status': 'edge',
      'authentication-info': 'nextnonce="t"',
      'x-next': 'Bearer t',
      location: 'https://user:t@127.0.0.1/?token=t',
    }
    const kept = {
      etag: '"1"',
      'x-page-token': 'p',
      'x-session-id': 's',
      'x-jws-signature': 'a..b',
      'x-plan': 'Basic t',
    }
    const handler = shop.serve(async () => new Response('ok', { headers: { ...secret, ...kept } }))
    const first = await handler(ask('k'))
    expect(first.headers.get('x-auth-token')).toBe('t')
    const second = await handler(ask('k'))
    expect(Object.keys(secret).filter((name) => second.headers.has(name))).toEqual([])
    expect(Object.fromEntries(second.headers)).toMatchObject(kept)
    const entry = await shop.ledger.find('public', 'k')
    expect(JSON.stringify(entry?.answer?.headers)).not.toContain('Bearer')
  })

  it('with the headers that are to be kept', async () => {
    const shop = protectedShop({ keepHeaders: ['Set-Cookie', 'Location'], dropHeaders: ['location'] })
    const headers = { 'set-cookie': 'a=1', location: '/1' }
    const handler = shop.serve(async () => new Response('ok', { headers }))
    await handler(ask('k'))
    const again = await handler(ask('k'))
    expect([again.headers.getSetCookie(), again.headers.get('location')]).toEqual([['a=1'], null])
    expect(() => protectedShop({ keepHeaders: ['Content-Length'] })).toThrow(/`keepHeaders` names Content-Length/)
  })

  it('without a word of the handler on whether its body was kept', async () => {
    const shop = protectedShop()
    const handler = shop.serve(async () => new Response('whole', { headers: { 'idempotency-body': 'omitted' } }))
    expect((await handler(ask('k'))).headers.get('idempotency-body')).toBeNull()
    const again = await handler(ask('k'))
    expect([again.headers.get('idempotency-body'), await again.text()]).toEqual([null, 'whole'])
    expect((await shop.ledger.find('public', 'k'))?.answer?.headers.map(([name]) => name)).toEqual(['content-type'])
  })

  it('without such a word in an entry that an older version has kept', async () => {
    const shop = protectedShop()
    await shop.placeOrder(ask('k'))
    const { insert } = shop.store
    shop.store.insert = async (draft) => {
      const insertion = await insert.call(shop.store, draft)
      if (insertion.kind !== 'found') return insertion
      const { entry } = insertion.found
      const answer = { ...entry.answer, headers: [['idempotency-body', 'omitted']] } as typeof entry.answer
      return { kind: 'found', found: { ...insertion.found, entry: { ...entry, answer } } }
    }
    const again = await shop.placeOrder(ask('k'))
    expect([again.headers.get('idempotency-replayed'), again.headers.get('idempotency-body')]).toEqual(['true', null])
  })

  it('without its body where that is too large, and is not done again', async () => {
    const shop = protectedShop({ maxResponseBytes: 4 })
    let runs = 0
    const handler = shop.serve(async (_, { effect, key }) => {
      runs++
      if (key === 'effect') {
        const headers = { location: '/1', 'content-type': 'text/plain;charset=UTF-8' }
        return effect(() => reply('longer than four', { status: 201, headers }))
      }
      return new Response('longer than four', { status: 201, headers: { location: '/1' } })
    })
    for (const key of ['effect', 'plain']) {
      const first = await handler(ask(key))
      expect(await first.text()).toBe('longer than four')
      const again = await handler(ask(key))
      expect([again.status, again.headers.get('location'), await again.text()]).toEqual([201, '/1', ''])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(again.headers.get('idempotency-body')).toBe('omitted')
      expect(again.headers.get('content-type')).toBe('text/plain;charset=UTF-8')
    }
    expect(runs).toBe(2)
  })

  it('of a stream without end: passed through, not kept', async () => {
    const shop = protectedShop()
    const handler = shop.serve(async () => {
      const stream = new ReadableStream({
        pull: (controller) => controller.enqueue(new TextEncoder().encode('data: tick\n\n')),
      })
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    })
    const first = await handler(ask('k'))
    const reader = first.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value as Uint8Array)).toBe('data: tick\n\n')
    await reader?.cancel()
    // Nobody knows whether its source is at work.
    expect((await handler(ask('k'))).status).toBe(409)
    expect((await shop.ledger.find('public', 'k'))?.state).toBe('running')
  })
})

describe('an answer for now only is not kept', () => {
  it.each([500, 502, 503, 401, 407, 408, 425, 429])('%i', async (status) => {
    const shop = protectedShop()
    let runs = 0
    const handler = shop.serve(async (_, { effect, key }) => {
      runs++
      if (key === 'plain') return new Response('not now', { status })
      return effect(async (tx) => {
        shop.order(tx, 'undone')
        return json({ error: 'not now' }, { status })
      })
    })
    for (const key of ['plain', 'effect']) {
      expect((await handler(ask(key))).status).toBe(status)
      expect((await handler(ask(key))).headers.get('idempotency-replayed')).toBeNull()
      expect(await shop.ledger.find('public', key)).toBeUndefined()
    }
    expect(runs).toBe(4)
    expect(shop.orders).toEqual([])
  })

  it('but a 5xx is where that was asked for, with its effect undone', async () => {
    const shop = protectedShop({ store5xx: true })
    const handler = shop.serve(async (_, { effect }) =>
      effect(async (tx) => {
        shop.order(tx, 'undone')
        return json({ error: 'final' }, { status: 500 })
      }),
    )
    await handler(ask('k'))
    expect((await handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(shop.orders).toEqual([])
  })
})

describe('a key', () => {
  it('is remembered for the retention, and is a new one after it', async () => {
    const shop = protectedShop({ retention: '1h' })
    await shop.placeOrder(ask('k'))
    await shop.clock.advance(3_599_999)
    expect((await shop.placeOrder(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    await shop.clock.advance(1)
    const fresh = await shop.placeOrder(ask('k', { body: '{"amount":6}' }))
    expect([fresh.status, fresh.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect(shop.orders).toEqual(['k', 'k'])
  })

  it('gives further keys, the same at each attempt and different for each label and scope', async () => {
    const shop = protectedShop({ scope: (request) => request.headers.get('x-tenant') ?? 'none' })
    const derived: string[] = []
    const handler = shop.serve(async (_, { deriveKey }) => {
      derived.push(deriveKey('charge'), deriveKey('mail'))
      return new Response(null, { status: 503 })
    })
    await handler(ask('k'))
    await handler(ask('k'))
    await handler(ask('k', { headers: { 'x-tenant': 'other' } }))
    const [charge, mail, chargeAgain, mailAgain, chargeOfOther] = derived
    expect([chargeAgain, mailAgain]).toEqual([charge, mail])
    expect(new Set([charge, mail, chargeOfOther]).size).toBe(3)
    expect(charge).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
