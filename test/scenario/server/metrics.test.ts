import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { json } from '../../../src/server/index.ts'
import { ask, gate, protectedShop } from '../../support/protected-shop.ts'

const ZERO = {
  claimed: 0,
  takenOver: 0,
  recorded: 0,
  replayed: 0,
  released: 0,
  abandoned: 0,
  refused: {},
  claimsLost: 0,
  handlersFailed: 0,
  storeFailures: 0,
}

describe('metrics', () => {
  it('begin at nothing', async () => {
    const { ledger, clock } = protectedShop()
    expect(await ledger.metrics()).toEqual({
      counters: ZERO,
      inFlight: 0,
      durations: { count: 0, sumMs: 0, maxMs: 0 },
      store: { at: clock.now(), entries: 0, unknown: 0, oldestUnknownAt: undefined, oldestExpiresAt: undefined },
    })
  })

  it('count what happens to requests, also where no observer is given', async () => {
    const shop = protectedShop({ observe: undefined })
    await shop.placeOrder(ask('a'))
    await shop.placeOrder(ask('a'))
    await shop.placeOrder(ask('a', { body: '{"amount":6}' }))
    await shop.placeOrder(ask(null))
    await shop.serve(async () => json({}, { status: 503 }))(ask('b'))
    await shop
      .serve(async (_, { effect }) => {
        await effect(() => json({}))
        throw new Error('too late')
      })(ask('c'))
      .catch(() => {})
    expect((await shop.ledger.metrics()).counters).toEqual({
      ...ZERO,
      claimed: 3,
      recorded: 2,
      replayed: 1,
      released: 1,
      handlersFailed: 1,
      refused: { 'key-reused': 1, 'key-missing': 1 },
    })
  })

  it('count what is taken over, abandoned and lost', async () => {
    const shop = protectedShop({}, { external: true, onAbandoned: 'rerun' })
    shop.store.renew = () => new Promise(() => {})
    const held = gate()
    const first = shop.serve(async () => {
      await held.opened
      return json({})
    })(ask('k'))
    await shop.clock.advance('61s')
    await shop
      .serve(async () => Promise.reject(new Error('no answer')))(ask('k'))
      .catch(() => {})
    held.open()
    await first
    const { counters } = await shop.ledger.metrics()
    expect(counters).toMatchObject({ claimed: 2, takenOver: 1, abandoned: 1 })
  })

  it('say how many handlers are running', async () => {
    const shop = protectedShop()
    const held = gate()
    const slow = shop.serve(async () => {
      await held.opened
      return json({})
    })
    const atomic = shop.ledger.atomic(async () => {
      await held.opened
      return json({})
    })
    const running = [slow(ask('a')), slow(ask('b')), atomic(ask('c'))]
    await shop.clock.advance(0)
    expect((await shop.ledger.metrics()).inFlight).toBe(3)
    held.open()
    await Promise.all(running)
    expect((await shop.ledger.metrics()).inFlight).toBe(0)
  })

  it('count a handler that throws, or that fails after its answer, as ended once', async () => {
    const shop = protectedShop()
    const failing = shop.serve(async () => Promise.reject(new Error('no')))
    await failing(ask('a')).catch(() => {})
    const atomic = shop.ledger.atomic(() => {
      throw new Error('no')
    })
    await atomic(ask('b')).catch(() => {})
    expect((await shop.ledger.metrics()).inFlight).toBe(0)
  })

  it('sum up how long recorded requests took', async () => {
    const shop = protectedShop()
    const slow = (ms: number) =>
      shop.serve(async () => {
        await shop.clock.sleep(ms)
        return json({})
      })
    const both = Promise.all([slow(200)(ask('a')), slow(500)(ask('b'))])
    await shop.clock.advance('1s')
    await both
    expect((await shop.ledger.metrics()).durations).toEqual({ count: 2, sumMs: 700, maxMs: 500 })
  })

  it('come without the gauges of a store that is down, which counts as a failure', async () => {
    const shop = protectedShop()
    shop.store.gauges = () => Promise.reject(new StorageError('down'))
    expect(await shop.ledger.metrics()).toMatchObject({ store: undefined, counters: { storeFailures: 1 } })
    shop.store.gauges = () => new Promise(() => {})
    const late = shop.ledger.metrics()
    await shop.clock.advance('5s')
    expect(await late).toMatchObject({ store: undefined, counters: { storeFailures: 2 } })
  })
})

describe('events', () => {
  it('say how long after its arrival something happened to a request', async () => {
    const shop = protectedShop({ authorize: async () => void (await shop.clock.sleep(50)) as undefined })
    const slow = shop.serve(async () => {
      await shop.clock.sleep(200)
      return json({})
    })
    const answers = Promise.all([slow(ask('a')), slow(ask(null))])
    await shop.clock.advance('1s')
    await answers
    const again = slow(ask('a'))
    await shop.clock.advance('1s')
    await again
    expect(shop.events.map((event) => [event.type, 'durationMs' in event && event.durationMs])).toEqual([
      ['entry.claimed', 50],
      ['request.refused', 50],
      ['entry.recorded', 250],
      ['entry.replayed', 50],
    ])
  })

  it('have no duration where no request caused them', async () => {
    const shop = protectedShop({}, { external: true })
    shop.store.renew = () => new Promise(() => {})
    void shop.serve(() => new Promise(() => {}))(ask('dead'))
    await shop.clock.advance('61s')
    shop.events.splice(0)
    const since = shop.clock.now()
    await shop.ledger.reap()
    expect(shop.events).toMatchObject([{ type: 'entry.abandoned', key: 'dead', unknownSince: since }])
    expect(shop.events[0]).not.toHaveProperty('durationMs')
  })
})
