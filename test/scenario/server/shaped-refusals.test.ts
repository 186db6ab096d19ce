import { describe, expect, it } from 'vitest'
import { createLedger, json, type LedgerOptions, memoryLedger, reply } from '../../../src/server/index.ts'
import { ask, gate, protectedShop, settleDown } from '../../support/protected-shop.ts'

type Refusal = NonNullable<LedgerOptions['refusal']>

const stripe: Refusal = ({ detail }) => json({ error: { type: 'idempotency_error', message: detail } })

describe('the option `refusal`', () => {
  it('gets the problem and the request, and replaces body and headers; status and protocol stay', async () => {
    const seen: unknown[] = []
    const shop = protectedShop({
      refusal: (problem, request) => {
        seen.push(problem, request.url)
        return json({ error: problem.title }, { headers: { 'x-shape': 'mine', 'idempotency-retention': '1' } })
      },
    })
    const held = gate()
    const slow = shop.serve(async () => {
      await held.opened
      return new Response('done')
    })
    const first = slow(ask('k'))
    await settleDown(shop.clock)
    const refused = await slow(ask('k'))
    held.open()
    await first
    expect(refused.status).toBe(409)
    expect(Object.fromEntries(refused.headers)).toEqual({
      'content-type': 'application/json',
      'idempotency-retention': '86400',
      'retry-after': '1',
      'x-shape': 'mine',
    })
    expect(await refused.json()).toEqual({ error: 'Operation in flight' })
    expect(seen).toEqual([
      {
        type: 'urn:holdfast:problem:in-flight',
        status: 409,
        title: 'Operation in flight',
        detail: 'The first request with this key is still in flight. Retry with the same key.',
      },
      'http://127.0.0.1/orders',
    ])
  })

  it('is asked too where a handler has lost its claim', async () => {
    const shop = protectedShop({ lease: '9s', refusal: stripe })
    const handler = shop.serve(
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    shop.store.renew = async () => false
    const answer = handler(ask('k'))
    await shop.clock.advance('3s')
    expect((await answer).status).toBe(409)
    expect(await (await answer).json()).toMatchObject({ error: { type: 'idempotency_error' } })
  })

  it('may say another status and another time to come back, but not that it went well', async () => {
    const refusals: Refusal[] = [
      () => reply('no', { status: 403, headers: { 'retry-after': '7' } }),
      () => reply('no', { status: 201 }),
    ]
    const statuses: unknown[] = []
    for (const refusal of refusals) {
      const { placeOrder } = protectedShop({ refusal })
      const refused = await placeOrder(ask(null))
      statuses.push([refused.status, refused.headers.get('retry-after'), await refused.text()])
    }
    expect(statuses).toEqual([
      [403, '7', 'no'],
      [400, null, 'no'],
    ])
  })

  it.each<[string, Refusal]>([
    ['says nothing', () => undefined],
    [
      'throws',
      () => {
        throw new Error('no shape')
      },
    ],
    ['gives a promise', (async () => json({})) as unknown as Refusal],
    ['gives something else', (() => ({ error: 'plain' })) as unknown as Refusal],
  ])('leaves the standard problem where it %s', async (how, refusal) => {
    const { placeOrder, events } = protectedShop({ refusal })
    const refused = await placeOrder(ask(null))
    expect([refused.status, refused.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(await refused.json()).toMatchObject({ type: 'urn:holdfast:problem:key-missing', status: 400 })
    const told = events.map(({ type }) => type)
    expect(told).toEqual(how === 'says nothing' ? ['request.refused'] : ['request.refused', 'ledger.failed'])
  })

  it('is refused where it is no function, and the answer of `authorize` is not its business', async () => {
    const store = memoryLedger()
    expect(() => createLedger({ store, scope: 'public', refusal: 'no' as never })).toThrow(
      '`refusal` must be a function',
    )
    expect(() => createLedger({ store, scope: 'public', refusals: stripe } as never)).toThrow('Did you mean `refusal`?')
    const { placeOrder } = protectedShop({ refusal: stripe, authorize: () => reply('who?', { status: 401 }) })
    expect(await (await placeOrder(ask('k'))).text()).toBe('who?')
  })
})

describe('the option `documentation`', () => {
  it('links each problem to its page, and leaves its type as it is', async () => {
    const { placeOrder } = protectedShop({ documentation: 'https://docs.example.com/problems/' })
    const refused = await placeOrder(ask(null))
    expect(refused.headers.get('link')).toBe('<https://docs.example.com/problems/key-missing>; rel="describedby"')
    expect(await refused.json()).toMatchObject({ type: 'urn:holdfast:problem:key-missing' })
    expect((await placeOrder(ask('k'))).headers.get('link')).toBeNull()
  })

  it('stays where the body is shaped, unless that says another link', async () => {
    const documentation = 'https://docs.example.com/problems#'
    const links: unknown[] = []
    for (const headers of [undefined, { link: '</help>; rel="help"' }]) {
      const { placeOrder } = protectedShop({ documentation, refusal: () => json({}, { headers }) })
      links.push((await placeOrder(ask(null))).headers.get('link'))
    }
    expect(links).toEqual(['<https://docs.example.com/problems#key-missing>; rel="describedby"', '</help>; rel="help"'])
  })

  it.each(['', 'docs', 'ftp://example.com/', 'https://example.com/a>b', 42])('is refused as %j', (documentation) => {
    const options = { store: memoryLedger(), scope: 'public', documentation: documentation as string }
    expect(() => createLedger(options)).toThrow('`documentation` must be')
  })
})
