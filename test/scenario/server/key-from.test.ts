import { describe, expect, it } from 'vitest'
import { json, type ProtectOptions } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const fromHeader = { keyFrom: (request: Request) => request.headers.get('webhook-id') }
const event = (id: string, body = '{"amount":5}') => ask(null, { headers: { 'webhook-id': id }, body })

describe('keyFrom', () => {
  it.each([
    ['of the ledger', protectedShop(fromHeader)],
    ['of a handler', protectedShop({}, fromHeader)],
    ['of a handler, which wins', protectedShop({ keyFrom: () => 'always the same' }, fromHeader)],
  ])('%s takes the key from elsewhere', async (_, shop) => {
    expect((await shop.placeOrder(event('evt_1'))).status).toBe(201)
    expect((await shop.placeOrder(event('evt_1'))).headers.get('idempotency-replayed')).toBe('true')
    expect((await shop.placeOrder(event('evt_2'))).headers.get('idempotency-replayed')).toBeNull()
    expect((await shop.placeOrder(event('evt_1', '{"amount":6}'))).status).toBe(422)
    expect(shop.orders).toEqual(['evt_1', 'evt_2'])
  })

  it('takes it from the body of a clone, which handler and fingerprint still read', async () => {
    const keyFrom = async (request: Request) => ((await request.clone().json()) as { id: string }).id
    const { serve } = protectedShop({}, { keyFrom })
    const handle = serve(async (request, { key }) => json({ key, body: await request.json() }))
    const first = await handle(ask(null, { body: '{"id":"evt_1","n":1}' }))
    expect(await first.json()).toEqual({ key: 'evt_1', body: { id: 'evt_1', n: 1 } })
    const again = await handle(ask(null, { body: '{"n":1,"id":"evt_1"}' }))
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await handle(ask(null, { body: '{"id":"evt_1","n":2}' }))).status).toBe(422)
  })

  it('alone decides: the header is not asked', async () => {
    const { placeOrder, orders } = protectedShop({ keyFrom: (request) => request.headers.get('webhook-id') })
    expect((await placeOrder(ask('from the header'))).status).toBe(400)
    expect((await placeOrder(ask('other', { headers: { 'webhook-id': 'evt_1' } }))).status).toBe(201)
    expect(orders).toEqual(['evt_1'])
  })

  it('may give none, if none is required', async () => {
    const { placeOrder, orders } = protectedShop({ keyFrom: () => undefined, required: false })
    await placeOrder(ask('k'))
    await placeOrder(ask('k'))
    expect(orders).toEqual(['keyless', 'keyless'])
  })

  it.each(['', 'a b', 'é', 'a\nb', 'k'.repeat(256), '"quoted" "twice'])(
    'refuses %j as a malformed key',
    async (key) => {
      const { placeOrder, events } = protectedShop({ keyFrom: () => key })
      expect((await placeOrder(ask('k'))).status).toBe(400)
      expect(events.at(-1)).toMatchObject({ type: 'request.refused', reason: 'key-malformed' })
    },
  )

  it('takes what it gives as it is: quotes belong to the key', async () => {
    const { placeOrder, orders } = protectedShop({ keyFrom: () => '"a"' })
    await placeOrder(ask(null))
    expect(orders).toEqual(['"a"'])
  })

  it('fails the request if it throws or gives no string', async () => {
    for (const keyFrom of [() => Promise.reject(new Error('no session')), () => 5] as ProtectOptions['keyFrom'][]) {
      const { placeOrder, orders, events } = protectedShop({}, { keyFrom })
      await expect(placeOrder(ask('k'))).rejects.toThrow(/no session|`keyFrom` must give a string/)
      expect(orders).toEqual([])
      expect(events.at(-1)).toMatchObject({ type: 'ledger.failed' })
    }
  })

  it('is not asked about requests that are not protected', async () => {
    const asked: string[] = []
    const { serve } = protectedShop({ keyFrom: ({ method }) => void asked.push(method) })
    await serve(async () => json({}))(ask(null, { method: 'GET' }))
    expect(asked).toEqual([])
  })

  it('is asked after authorize, and works in atomic()', async () => {
    const forbidden = protectedShop({ ...fromHeader, authorize: () => json({}, { status: 401 }) })
    expect((await forbidden.placeOrder(event('evt_1'))).status).toBe(401)
    const { ledger } = protectedShop()
    const atomic = ledger.atomic((_request, _tx, { key }) => json({ key }), fromHeader)
    expect(await (await atomic(event('evt_1'))).json()).toEqual({ key: 'evt_1' })
    const ofLedger = protectedShop(fromHeader).ledger.atomic((_request, _tx, { key }) => json({ key }))
    expect(await (await ofLedger(event('evt_2'))).json()).toEqual({ key: 'evt_2' })
  })

  it('is refused if it is no function', () => {
    expect(() => protectedShop({ keyFrom: 'webhook-id' as never })).toThrow('The option `keyFrom` must be a function')
    const { ledger } = protectedShop()
    expect(() => ledger.atomic(() => json({}), { keyFrom: 1 as never })).toThrow('must be a function')
  })
})
