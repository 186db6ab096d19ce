import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { json } from '../../../src/server/index.ts'
import { ask, protectedShop, settleDown } from '../../support/protected-shop.ts'

const down = (): Promise<never> => Promise.reject(new StorageError('down'))

describe('a store that is down', () => {
  it('at the claim: refused, nothing is begun', async () => {
    const shop = protectedShop()
    shop.store.insert = down
    const answer = await shop.placeOrder(ask('k'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ type: 'urn:holdfast:problem:unavailable' })
    expect(shop.orders).toEqual([])
    expect(shop.events.map(({ type }) => type)).toEqual(['ledger.failed', 'request.refused'])
  })

  it('at the commit: in doubt, and no time to come back, which would say that nothing was begun', async () => {
    const shop = protectedShop()
    const transact = shop.store.transact.bind(shop.store)
    shop.store.transact = async (transaction) => {
      await transact(transaction)
      return down()
    }
    const answer = await shop.placeOrder(ask('k'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, null])
    expect(await answer.json()).toMatchObject({ type: 'urn:holdfast:problem:unavailable' })
    expect(shop.orders).toHaveLength(1)
  })

  it('and does not answer: refused in time, and a claim that comes late is taken back', async () => {
    const shop = protectedShop({ storeTimeout: '5s' })
    const insert = shop.store.insert.bind(shop.store)
    let late: (() => void) | undefined
    shop.store.insert = async (draft) => {
      await new Promise<void>((resolve) => {
        late = resolve
      })
      return insert(draft)
    }
    const answer = shop.placeOrder(ask('k'))
    await shop.clock.advance('5s')
    expect((await answer).status).toBe(503)
    late?.()
    await settleDown(shop.clock)
    expect(await shop.ledger.find('public', 'k')).toBeUndefined()
  })

  it.each([
    ['is free again', {}, 'absent'],
    ['is unknown again where it may have been done outside', { external: true, onAbandoned: 'rerun' }, 'unknown'],
    ['is unknown again where it has to be found out', { reconcile: () => undefined }, 'unknown'],
  ] as const)('and takes a dead one over too late: the key %s', async (_, protect, state) => {
    const shop = protectedShop({ storeTimeout: '5s' }, protect)
    const { renew } = shop.store
    shop.store.renew = () => new Promise(() => {})
    void shop.serve(() => new Promise(() => {}))(ask('k'))
    await shop.clock.advance('61s')
    shop.store.renew = renew
    const takeOver = shop.store.takeOver.bind(shop.store)
    let late: (() => void) | undefined
    shop.store.takeOver = async (found, draft) => {
      await new Promise<void>((resolve) => {
        late = resolve
      })
      return takeOver(found, draft)
    }
    const answer = shop.placeOrder(ask('k'))
    await shop.clock.advance('5s')
    expect((await answer).status).toBe(503)
    late?.()
    await settleDown(shop.clock)
    expect((await shop.ledger.find('public', 'k'))?.state ?? 'absent').toBe(state)
  })

  it('at the commit: refused, whatever the handler makes of it', async () => {
    const shop = protectedShop()
    shop.store.transact = down
    expect((await shop.placeOrder(ask('k'))).status).toBe(503)
    const optimist = shop.serve(async (_, { effect }) => {
      await effect(() => json({})).catch(() => {})
      return new Response('all is well')
    })
    expect((await optimist(ask('k2'))).status).toBe(503)
    expect(await shop.ledger.find('public', 'k')).toBeUndefined()
  })

  it('whose commit went through all the same keeps what it has', async () => {
    const shop = protectedShop()
    const transact = shop.store.transact.bind(shop.store)
    shop.store.transact = async (transaction) => {
      await transact(transaction)
      return down()
    }
    expect((await shop.placeOrder(ask('k'))).status).toBe(503)
    expect(shop.events.map(({ type }) => type)).toEqual(['entry.claimed', 'ledger.failed'])
    shop.store.transact = transact
    const again = await shop.placeOrder(ask('k'))
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(shop.orders).toEqual(['k'])
  })

  it('after a handler without effect: its answer is sent, since it is true', async () => {
    const shop = protectedShop()
    shop.store.complete = down
    const handler = shop.serve(async () => new Response('done', { status: 201 }))
    expect((await handler(ask('k'))).status).toBe(201)
    expect(shop.events.map(({ type }) => type)).toContain('ledger.failed')
  })

  it('and hangs when the answer is to be recorded does not hold the answer up', async () => {
    const shop = protectedShop({ storeTimeout: '5s' })
    shop.store.complete = () => new Promise(() => {})
    const handler = shop.serve(async () => new Response('done', { status: 201 }))
    const answer = handler(ask('k'))
    await shop.clock.advance('5s')
    expect((await answer).status).toBe(201)
  })

  it('at the commit of external work leaves it unknown', async () => {
    const shop = protectedShop({}, { external: true })
    const transact = shop.store.transact
    shop.store.transact = down
    expect((await shop.placeOrder(ask('k'))).status).toBe(503)
    shop.store.transact = transact
    const again = await shop.placeOrder(ask('k'))
    expect(await again.json()).toMatchObject({ type: 'urn:holdfast:problem:outcome-unknown' })
  })

  it('at a release: the lease frees the key in time', async () => {
    const shop = protectedShop()
    const release = shop.store.release
    shop.store.release = down
    const failing = shop.serve(async () => {
      throw new Error('boom')
    })
    await expect(failing(ask('k'))).rejects.toThrow('boom')
    shop.store.release = release
    expect((await shop.placeOrder(ask('k'))).status).toBe(409)
    await shop.clock.advance('60s')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })

  it('at a renewal: asked again, and the handler goes on', async () => {
    const shop = protectedShop({ lease: '9s' })
    const renew = shop.store.renew.bind(shop.store)
    let failures = 2
    shop.store.renew = (claim, lease) => (failures-- > 0 ? down() : renew(claim, lease))
    const handler = shop.serve(async (_, { effect }) => {
      await shop.clock.sleep(8_000)
      return effect(() => json({ ok: true }))
    })
    const answer = handler(ask('k'))
    await shop.clock.advance('8s')
    expect((await answer).status).toBe(200)
  })

  it('and throws in place of rejecting, while an answer is recorded in the background: recorded when it is up again', async () => {
    const shop = protectedShop()
    const { complete, renew } = shop.store
    const broken = (): never => {
      throw new Error('broken')
    }
    Object.assign(shop.store, { complete: broken, renew: broken })
    const handler = shop.serve(async () => new Response('done', { status: 201 }))
    expect((await handler(ask('k'))).status).toBe(201)
    Object.assign(shop.store, { complete, renew })
    await shop.clock.advance('10s')
    expect(await shop.ledger.find('public', 'k')).toMatchObject({ state: 'done' })
  })

  it('and an observer that throws changes nothing', async () => {
    const shop = protectedShop({
      observe: () => {
        throw new Error('observer')
      },
    })
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })
})

it('is not what a caller looks like that leaves while it sends its body', async () => {
  const shop = protectedShop()
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('aborted')) })
  const cut = new Request(ask('k'), { body, duplex: 'half' } as RequestInit)
  await expect(shop.placeOrder(cut)).rejects.toThrow('aborted')
  expect([shop.events, shop.orders]).toEqual([[], []])
})
