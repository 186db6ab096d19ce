import { describe, expect, it } from 'vitest'
import { ask, protectedShop } from '../../support/protected-shop.ts'

class Declined extends Error {}

/** A shop whose handler makes a 402 of what its effect throws, as a framework does with a domain error. */
function decliningShop(answer: (error: unknown) => Response, protect = {}) {
  const shop = protectedShop({}, protect)
  let isDeclining = true
  const handler = shop.serve(async (_, { effect }) => {
    try {
      return await effect(async (tx) => {
        shop.order(tx, 'k')
        if (isDeclining) throw new Declined('no funds')
        return new Response('charged', { status: 201 })
      })
    } catch (error) {
      return answer(error)
    }
  })
  const accept = (): void => {
    isDeclining = false
  }
  return { ...shop, handler, accept }
}

describe('work that throws inside of its effect', () => {
  it('has the final 4xx that is made of it recorded, so that a late copy of the request does nothing', async () => {
    const shop = decliningShop(() => new Response('declined', { status: 402 }))
    expect((await shop.handler(ask('k'))).status).toBe(402)
    shop.accept()
    const copy = await shop.handler(ask('k'))
    expect([copy.status, copy.headers.get('idempotency-replayed'), await copy.text()]).toEqual([
      402,
      'true',
      'declined',
    ])
    expect(shop.orders).toEqual([])
  })

  it('frees its key if a 5xx is made of it', async () => {
    const shop = decliningShop(() => new Response('broken', { status: 500 }))
    expect((await shop.handler(ask('k'))).status).toBe(500)
    shop.accept()
    expect((await shop.handler(ask('k'))).status).toBe(201)
    expect(shop.orders).toEqual(['k'])
  })

  it('keeps its key until it is answered', async () => {
    const shop = protectedShop({ lease: '9s' })
    let answer = (_: Response): void => {}
    const handler = shop.serve(async (_, { effect }) => {
      await effect(async () => {
        throw new Declined('no funds')
      }).catch(() => {})
      return new Promise<Response>((resolve) => {
        answer = resolve
      })
    })
    const first = handler(ask('k'))
    await shop.clock.advance('5m')
    expect((await handler(ask('k'))).status).toBe(409)
    answer(new Response('declined', { status: 402 }))
    expect((await first).status).toBe(402)
    expect((await handler(ask('k'))).status).toBe(402)
  })

  it('frees its key, or leaves it unknown if it is external, when the error leaves the handler', async () => {
    for (const external of [false, true]) {
      const shop = protectedShop({}, { external })
      const handler = shop.serve((_, { effect }) =>
        effect(async () => {
          throw new Declined('no funds')
        }),
      )
      await expect(handler(ask('k'))).rejects.toThrow(Declined)
      expect((await shop.ledger.find('public', 'k'))?.state).toBe(external ? 'unknown' : undefined)
      expect(shop.events.at(-1)?.type).toBe(external ? 'entry.abandoned' : 'entry.released')
    }
  })
})
