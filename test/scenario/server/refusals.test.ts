import { describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../../src/protocol/http-date.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

async function refusalOf(response: Response) {
  const problem = (await response.json()) as { type: string; status: number; title: string; detail: string }
  return {
    status: response.status,
    type: problem.type.split(':').pop(),
    retryAfter: response.headers.get('retry-after'),
  }
}

describe('a request is refused before its handler runs', () => {
  it('and told with its scope and key, as far as they are known', async () => {
    const { placeOrder, events } = protectedShop()
    await placeOrder(ask(null))
    await placeOrder(ask('k'))
    await placeOrder(ask('k', { body: '{"amount":6}' }))
    const refused = events.filter(({ type }) => type === 'request.refused')
    expect(refused).toMatchObject([
      { reason: 'key-missing', method: 'POST', path: '/orders', scope: undefined, key: undefined },
      { reason: 'key-reused', method: 'POST', path: '/orders', scope: 'public', key: 'k' },
    ])
  })

  it('without a key, where it is a POST or PATCH', async () => {
    const { placeOrder, orders } = protectedShop()
    for (const method of ['POST', 'PATCH']) {
      const response = await placeOrder(ask(null, { method }))
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await refusalOf(response)).toEqual({ status: 400, type: 'key-missing', retryAfter: null })
    }
    expect(orders).toEqual([])
  })

  it.each(['', '   ', 'a b', 'a, b', '"open', '"a";P=1', 'k\u00e9y', 'x'.repeat(256), '("a" "b")'])(
    'with the malformed key %j',
    async (key) => {
      const { placeOrder, orders } = protectedShop()
      expect(await refusalOf(await placeOrder(ask(key)))).toEqual({
        status: 400,
        type: 'key-malformed',
        retryAfter: null,
      })
      expect(orders).toEqual([])
    },
  )

  it('takes every form that the IETF draft allows: blanks in quotes, and parameters that say nothing', async () => {
    const { placeOrder, orders } = protectedShop()
    expect((await placeOrder(ask('"a b"'))).status).toBe(201)
    expect((await placeOrder(ask('"a b";v=1'))).headers.get('idempotency-replayed')).toBe('true')
    expect((await placeOrder(ask('"ab"; v="x"'))).status).toBe(201)
    expect((await placeOrder(ask('ab'))).headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['a b', 'ab'])
  })

  it('takes a bare and a quoted key for the same', async () => {
    const { placeOrder, orders } = protectedShop()
    await placeOrder(ask('one'))
    const again = await placeOrder(ask('"one"'))
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['one'])
  })

  it('when it was first sent before the time that keys are remembered', async () => {
    const { placeOrder, orders, clock } = protectedShop({ retention: '1h' })
    const sent = (agoMs: number) => ({ headers: { 'repeatability-first-sent': formatHttpDate(clock.now() - agoMs) } })
    expect(await refusalOf(await placeOrder(ask('late', sent(3_600_000))))).toEqual({
      status: 412,
      type: 'window-passed',
      retryAfter: null,
    })
    expect((await placeOrder(ask('in time', sent(0)))).status).toBe(400)
    expect((await placeOrder(ask('in-time', sent(3_599_000)))).status).toBe(201)
    expect((await placeOrder(ask('nonsense', { headers: { 'repeatability-first-sent': 'soon' } }))).status).toBe(201)
    expect(orders).toEqual(['in-time', 'nonsense'])
  })

  it.each([
    ['the body', { body: '{"amount":6}' }],
    ['the path', { path: '/refunds' }],
    ['the query', { path: '/orders?now=1' }],
    ['the method', { method: 'PUT' }],
  ])('when %s differs under the same key, done or not', async (_, other) => {
    const { placeOrder, orders } = protectedShop()
    await placeOrder(ask('k'))
    expect(await refusalOf(await placeOrder(ask('k', other)))).toEqual({
      status: 422,
      type: 'key-reused',
      retryAfter: null,
    })
    const again = await placeOrder(ask('k'))
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['k'])
  })

  it('is not refused for key order, white space or how a number is written', async () => {
    const { placeOrder, orders } = protectedShop()
    await placeOrder(ask('k', { body: '{"a":1.0,"b":"é"}' }))
    const again = await placeOrder(ask('k', { body: ' { "b" : "\\u00e9", "a" : 1e0 } ' }))
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['k'])
  })

  it('when its body is larger than the service takes', async () => {
    const { placeOrder, orders } = protectedShop({ maxRequestBytes: 10 })
    expect(await refusalOf(await placeOrder(ask('k')))).toEqual({
      status: 413,
      type: 'body-too-large',
      retryAfter: null,
    })
    expect(orders).toEqual([])
  })
})

describe('a request passes without a key', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('where it is a %s', async (method) => {
    const { placeOrder, orders } = protectedShop()
    expect((await placeOrder(ask(null, { method }))).status).toBe(201)
    expect((await placeOrder(ask(null, { method }))).status).toBe(201)
    expect(orders).toEqual(['keyless', 'keyless'])
  })

  it('where keys are not required', async () => {
    const { placeOrder, orders } = protectedShop({ required: false })
    expect((await placeOrder(ask(null))).status).toBe(201)
    expect(orders).toEqual(['keyless'])
  })

  it('where its method is not protected, though it has one', async () => {
    const { placeOrder, orders } = protectedShop({ methods: ['PATCH'] })
    await placeOrder(ask('k'))
    await placeOrder(ask('k'))
    expect(orders).toEqual(['keyless', 'keyless'])
  })
})

describe('scopes', () => {
  it('keep the same key of two tenants apart', async () => {
    const { placeOrder, orders } = protectedShop({ scope: (request) => request.headers.get('x-tenant') ?? 'none' })
    const a = await placeOrder(ask('k', { headers: { 'x-tenant': 'a' } }))
    const b = await placeOrder(ask('k', { headers: { 'x-tenant': 'b' }, body: '{"amount":9}' }))
    expect([a.headers.get('idempotency-replayed'), b.headers.get('idempotency-replayed')]).toEqual([null, null])
    expect(orders).toEqual(['k', 'k'])
  })

  it('refuse everything where the tenant cannot be told', async () => {
    const { placeOrder, orders } = protectedShop({
      scope: () => {
        throw new Error('who?')
      },
    })
    await expect(placeOrder(ask('k'))).rejects.toThrow('who?')
    const empty = protectedShop({ scope: () => '' })
    await expect(empty.placeOrder(ask('k'))).rejects.toThrow(/scope/)
    expect([...orders, ...empty.orders]).toEqual([])
  })
})

describe('authorization', () => {
  it('comes before the replay', async () => {
    let allowed = true
    const { placeOrder } = protectedShop({
      authorize: () => (allowed ? undefined : new Response('no', { status: 403 })),
    })
    expect((await placeOrder(ask('k'))).status).toBe(201)
    allowed = false
    const revoked = await placeOrder(ask('k'))
    expect([revoked.status, await revoked.text()]).toEqual([403, 'no'])
  })
})
