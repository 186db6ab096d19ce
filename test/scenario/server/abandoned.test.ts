import { describe, expect, it } from 'vitest'
import { type Entry, json } from '../../../src/server/index.ts'
import { ask, gate, protectedShop, settleDown } from '../../support/protected-shop.ts'

/** A process that dies while its handler runs: nothing of it is heard of again, and its lease lapses. */
async function die(shop: ReturnType<typeof protectedShop>, key: string): Promise<void> {
  const { renew } = shop.store
  shop.store.renew = () => new Promise(() => {})
  const dead = shop.serve(() => new Promise(() => {}))
  void dead(ask(key))
  await shop.clock.advance('61s')
  shop.store.renew = renew
}

async function typeOf(response: Response): Promise<string | undefined> {
  return ((await response.json()) as { type: string }).type.split(':').pop()
}

describe('an operation whose handler died', () => {
  it('runs again where all it does is ours', async () => {
    const shop = protectedShop()
    await die(shop, 'k')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
    expect(shop.orders).toEqual(['k'])
    expect(shop.events).toContainEqual(expect.objectContaining({ type: 'entry.claimed', takenOver: true, attempt: 2 }))
  })

  it('is taken for dead after 60 s without a word, and not before', async () => {
    const shop = protectedShop()
    shop.store.renew = () => new Promise(() => {})
    void shop.serve(() => new Promise(() => {}))(ask('k'))
    await shop.clock.advance(59_999)
    expect(await typeOf(await shop.placeOrder(ask('k')))).toBe('in-flight')
    await shop.clock.advance(1)
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })

  it('is held where it may have done something outside', async () => {
    const shop = protectedShop({}, { external: true })
    await die(shop, 'k')
    const held = await shop.placeOrder(ask('k'))
    expect([held.status, held.headers.get('retry-after'), await typeOf(held)]).toEqual([409, '60', 'outcome-unknown'])
    expect((await shop.ledger.find('public', 'k'))?.state).toBe('unknown')
    expect(await typeOf(await shop.placeOrder(ask('k')))).toBe('outcome-unknown')
    expect(await typeOf(await shop.placeOrder(ask('k', { body: '{}' })))).toBe('key-reused')
    expect(shop.orders).toEqual([])
  })

  it('and that was not dead, since a clock had jumped, records what it did', async () => {
    const shop = protectedShop({}, { external: true })
    const other = protectedShop({ store: shop.store }, { external: true })
    const held = gate()
    const first = shop.serve(async (_, { key }) => {
      await held.opened
      return json({ ordered: key }, { status: 201 })
    })(ask('k'))
    await settleDown(shop.clock)
    await other.clock.advance('90s')
    expect(await typeOf(await other.placeOrder(ask('k')))).toBe('outcome-unknown')
    await shop.clock.advance('30s')
    held.open()
    expect((await first).status).toBe(201)
    expect((await other.placeOrder(ask('k'))).status).toBe(201)
    expect(other.orders).toEqual([])
  })

  it('runs again all the same where that was said', async () => {
    const shop = protectedShop({}, { external: true, onAbandoned: 'rerun' })
    await die(shop, 'k')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
    expect(shop.orders).toEqual(['k'])
  })

  it('is held where that was said', async () => {
    const shop = protectedShop({}, { onAbandoned: 'hold' })
    await die(shop, 'k')
    expect(await typeOf(await shop.placeOrder(ask('k')))).toBe('outcome-unknown')
  })

  it('is answered with what reconcile finds, once for all', async () => {
    const asked: Entry[] = []
    const reconcile = async (entry: Entry) => {
      asked.push(entry)
      return json({ found: true }, { status: 201 })
    }
    const shop = protectedShop({}, { external: true, reconcile })
    await die(shop, 'k')
    const first = await shop.placeOrder(ask('k'))
    const second = await shop.placeOrder(ask('k'))
    expect([first.status, await first.json()]).toEqual([201, { found: true }])
    expect([second.status, await second.json()]).toEqual([201, { found: true }])
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ scope: 'public', key: 'k', method: 'POST', path: '/orders', attempt: 1 })
    expect(shop.orders).toEqual([])
  })

  it('runs again where reconcile finds that nothing was done', async () => {
    const shop = protectedShop({}, { external: true, reconcile: () => 'rerun' as const })
    await die(shop, 'k')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
    expect(shop.orders).toEqual(['k'])
  })

  it.each([
    ['knows nothing yet', () => undefined],
    [
      'throws',
      () => {
        throw new Error('provider down')
      },
    ],
  ])('stays unknown where reconcile %s, and is asked about again', async (_, reconcile) => {
    let asked = 0
    const shop = protectedShop({}, { external: true, reconcile: () => (asked++ < 1 ? reconcile() : json({ late: 1 })) })
    await die(shop, 'k')
    expect(await typeOf(await shop.placeOrder(ask('k')))).toBe('outcome-unknown')
    expect(await (await shop.placeOrder(ask('k'))).json()).toEqual({ late: 1 })
    expect(shop.orders).toEqual([])
  })

  it('is asked about by the key that its handler derived', async () => {
    const keys: string[] = []
    const shop = protectedShop(
      {},
      {
        external: true,
        reconcile: (_, { deriveKey }) => {
          keys.push(deriveKey('charge'))
          return 'rerun'
        },
      },
    )
    await die(shop, 'k')
    const handler = shop.serve(async (_, { deriveKey }) => {
      keys.push(deriveKey('charge'))
      return new Response('done')
    })
    await handler(ask('k'))
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
  })

  it('stays external when a later version of the handler no longer says so', async () => {
    const shop = protectedShop({}, { external: true })
    await die(shop, 'k')
    const later = shop.ledger.protect(async () => new Response('blindly'))
    expect(await typeOf(await later(ask('k')))).toBe('outcome-unknown')
  })

  it('is settled by an operator', async () => {
    const shop = protectedShop({}, { external: true })
    await die(shop, 'answered')
    await die(shop, 'again')
    await shop.placeOrder(ask('answered'))
    await shop.placeOrder(ask('again'))
    expect(await shop.ledger.resolve('public', 'answered', json({ by: 'hand' }))).toBe(true)
    expect(await shop.ledger.resolve('public', 'again', 'rerun')).toBe(true)
    expect(await shop.ledger.resolve('public', 'never', 'rerun')).toBe(false)
    expect(await shop.ledger.resolve('public', 'answered', 'rerun')).toBe(false)
    expect(await (await shop.placeOrder(ask('answered'))).json()).toEqual({ by: 'hand' })
    expect((await shop.placeOrder(ask('again'))).status).toBe(201)
    expect(shop.orders).toEqual(['again'])
  })
})

describe('a handler that throws', () => {
  it('leaves the key free', async () => {
    const shop = protectedShop()
    const broken = shop.serve(async () => {
      throw new Error('boom')
    })
    await expect(broken(ask('k'))).rejects.toThrow('boom')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })

  it('leaves it unknown where it was external: the call outside may have gone through', async () => {
    const shop = protectedShop({}, { external: true })
    const broken = shop.serve(async () => {
      throw new Error('provider timed out')
    })
    await expect(broken(ask('k'))).rejects.toThrow('provider timed out')
    expect(await typeOf(await shop.placeOrder(ask('k')))).toBe('outcome-unknown')
  })

  it('inside its effect leaves it unknown too where it was external', async () => {
    const shop = protectedShop({}, { external: true })
    let charges = 0
    const handler = shop.serve(async (_, { effect }) => {
      charges++
      return effect((tx) => {
        shop.order(tx, 'undone')
        throw new Error('disk full')
      })
    })
    await expect(handler(ask('k'))).rejects.toThrow('disk full')
    expect(await typeOf(await handler(ask('k')))).toBe('outcome-unknown')
    expect([charges, shop.orders]).toEqual([1, []])
    expect(shop.events.map(({ type }) => type)).toContain('entry.abandoned')
  })

  it('but answers 5xx on purpose leaves it unknown too where it was external, unless it says that nothing was done', async () => {
    const shop = protectedShop({}, { external: true })
    const unlucky = shop.serve(async (_, { effect, notDone, key }) => {
      if (key === 'said') notDone()
      return effect(() => json({ error: 'provider says no' }, { status: 503 }))
    })
    for (const key of ['silent', 'said']) expect((await unlucky(ask(key))).status).toBe(503)
    expect(await typeOf(await shop.placeOrder(ask('silent')))).toBe('outcome-unknown')
    expect((await shop.placeOrder(ask('said'))).status).toBe(201)
  })

  it('after its effect was committed answers with the recorded reply', async () => {
    const shop = protectedShop()
    const clumsy = shop.serve(async (_, { effect }) => {
      await effect(async (tx) => {
        shop.order(tx, 'one')
        return json({ ok: true }, { status: 201 })
      })
      throw new Error('after the fact')
    })
    expect((await clumsy(ask('k'))).status).toBe(201)
    expect((await clumsy(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(shop.orders).toEqual(['one'])
    expect(shop.events.map(({ type }) => type)).toContain('handler.failed')
  })

  it.each([
    ['answers', () => new Response('too early')],
    [
      'throws',
      () => {
        throw new Error('too early')
      },
    ],
  ])('and %s before its effect has ended is waited for', async (_, ended) => {
    const shop = protectedShop()
    const held = gate()
    const hasty = shop.serve(async (__, { effect }) => {
      void effect(async (tx) => {
        shop.order(tx, 'one')
        await held.opened
        return json({ from: 'effect' })
      })
      return ended()
    })
    const answer = hasty(ask('k'))
    await settleDown(shop.clock)
    held.open()
    expect(await (await answer).json()).toEqual({ from: 'effect' })
    expect(shop.orders).toEqual(['one'])
  })

  it('has one effect', async () => {
    const shop = protectedShop()
    const twice = shop.serve(async (_, { effect }) => {
      await effect(() => json({ n: 1 }))
      return effect(() => json({ n: 2 }))
    })
    const answer = await twice(ask('k'))
    expect(await answer.json()).toEqual({ n: 1 })
  })

  it('must say its answer inside the effect', async () => {
    const shop = protectedShop()
    const silent = shop.serve(async (_, { effect }) => effect((tx) => shop.order(tx, 'one') as never))
    await expect(silent(ask('k'))).rejects.toThrow(/effect\(\) must give its answer as json/)
    expect(shop.orders).toEqual([])
  })
})

describe('a claim is on disk before its handler runs', () => {
  it.each([
    ['where the handler is external', { external: true, onAbandoned: 'rerun' }, true],
    ['where what a dead one left is held', { onAbandoned: 'hold' }, true],
    ['where what a dead one left is asked about', { reconcile: () => undefined }, true],
    ['but not where it is simply run again', {}, false],
  ] as const)('%s', async (_, protect, durable) => {
    const shop = protectedShop({}, protect)
    const drafts: unknown[] = []
    const insert = shop.store.insert.bind(shop.store)
    shop.store.insert = (draft) => {
      drafts.push(draft)
      return insert(draft)
    }
    await shop.placeOrder(ask('k'))
    expect(drafts).toEqual([expect.objectContaining({ durable })])
  })
})
