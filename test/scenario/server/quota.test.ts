import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createLedger, json, type LedgerOptions, memoryLedger, type Quota } from '../../../src/server/index.ts'
import { resolveLedgerOptions } from '../../../src/server/resolve-ledger-options.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

type Shop = ReturnType<typeof protectedShop>

/** A shop whose scope is the request's account, and how often its store was asked to count. */
function shopWith(quota: Quota | undefined) {
  const shop = protectedShop({ quota, scope: (request) => request.headers.get('account') ?? 'a' })
  const counts = { asked: 0 }
  const count = shop.store.count.bind(shop.store)
  shop.store.count = (scope, atMost) => {
    counts.asked++
    return count(scope, atMost)
  }
  return { ...shop, counts }
}

/** The options of a ledger whose store has a million keys of each scope. */
function guardWith(options: Pick<LedgerOptions, 'quota'> & { readonly scope: string | (() => string) }) {
  const clock = manualClock()
  const asked: number[] = []
  const warned: string[] = []
  const store = memoryLedger()
  store.count = async (_, atMost) => {
    asked.push(atMost)
    return 1_000_000
  }
  const platform = {
    digest: () => '',
    decodeBody: () => undefined,
    warn: (sentence: string) => void warned.push(sentence),
  }
  return { clock, asked, warned, guard: resolveLedgerOptions({ ...options, store: store as never, clock }, platform) }
}

async function statuses({ placeOrder }: Pick<Shop, 'placeOrder'>, keys: readonly string[], account = 'a') {
  const answers: number[] = []
  for (const key of keys) answers.push((await placeOrder(ask(key, { headers: { account } }))).status)
  return answers
}

describe('a quota', () => {
  it('refuses new keys of a scope that has as many as it may, and no other scope', async () => {
    const shop = shopWith(2)
    expect(await statuses(shop, ['1', '2', '3'])).toEqual([201, 201, 429])
    expect(await statuses(shop, ['1', '2', '3'], 'b')).toEqual([201, 201, 429])
    expect(shop.orders).toEqual(['1', '2', '1', '2'])
    expect(shop.events.filter(({ type }) => type === 'request.refused')).toMatchObject([
      { reason: 'quota-exceeded', scope: 'a', key: '3' },
      { reason: 'quota-exceeded', scope: 'b', key: '3' },
    ])
    expect((await shop.ledger.metrics()).counters.refused).toEqual({ 'quota-exceeded': 2 })
  })

  it('answers with a problem, and when to come back', async () => {
    const shop = shopWith(1)
    await statuses(shop, ['1'])
    const refused = await shop.placeOrder(ask('2'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.json()).toMatchObject({ type: 'urn:holdfast:problem:quota-exceeded', status: 429 })
  })

  it('serves retries, however full the scope is', async () => {
    const shop = shopWith(1)
    await statuses(shop, ['1', '2'])
    const again = await shop.placeOrder(ask('1'))
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect((await shop.placeOrder(ask('1', { body: '{"amount":6}' }))).status).toBe(422)
  })

  it('holds for atomic handlers too', async () => {
    const shop = shopWith(1)
    const atomic = shop.ledger.atomic(async () => json({}, { status: 201 }))
    const answers = [await atomic(ask('1')), await atomic(ask('2')), await atomic(ask('1'))]
    expect(answers.map(({ status }) => status)).toEqual([201, 429, 201])
  })

  it('counts once a minute while there is room, and adds its own claims meanwhile', async () => {
    const shop = shopWith(100)
    await statuses(shop, ['1', '2', '3'])
    expect(shop.counts.asked).toBe(1)
    await shop.clock.advance('60s')
    await statuses(shop, ['4', '5'])
    expect(shop.counts.asked).toBe(2)
  })

  it('counts again before it refuses, since a key may have been released', async () => {
    const shop = shopWith(2)
    await statuses(shop, ['1'])
    await shop.serve(async () => json({}, { status: 503 }))(ask('2'))
    await shop.clock.advance('1s')
    expect(await statuses(shop, ['3', '4'])).toEqual([201, 429])
    const { asked } = shop.counts
    // Not for each request that is refused.
    expect(await statuses(shop, ['5', '6', '7'])).toEqual([429, 429, 429])
    expect(shop.counts.asked).toBe(asked)
  })

  it('has room again when the reaper has made some', async () => {
    const shop = protectedShop({ quota: 1, retention: '5m' })
    expect(await statuses(shop, ['1', '2'])).toEqual([201, 429])
    await shop.clock.advance('5m')
    await shop.ledger.reap()
    expect(await statuses(shop, ['2'])).toEqual([201])
  })

  it('may be another one for each scope, or none', async () => {
    const shop = shopWith((scope) => ({ a: 1, b: 0 })[scope])
    expect(await statuses(shop, ['1', '2'])).toEqual([201, 429])
    expect(await statuses(shop, ['1'], 'b')).toEqual([429])
    expect(await statuses(shop, ['1', '2', '3'], 'free')).toEqual([201, 201, 201])
    expect(shop.counts.asked).toBe(2)
  })

  it('costs no call to the store for a scope with few keys', async () => {
    const shop = shopWith(undefined)
    await statuses(shop, ['1', '2', '3'])
    await shop.clock.advance('60s')
    await statuses(shop, ['4'])
    expect(shop.counts.asked).toBe(0)
  })

  it('is a million by default, and a scope that is full is counted every ten seconds', async () => {
    const { guard, clock, asked } = guardWith({ scope: () => 'a' })
    const hasRoom = () => guard.quota?.hasRoom(guard, 'a')
    for (let at = 0; at < 9_999; at++) guard.quota?.added('a')
    expect([await hasRoom(), asked]).toEqual([true, []])
    guard.quota?.added('a')
    expect([await hasRoom(), asked]).toEqual([false, [1_000_000]])
    await clock.advance('9s')
    expect([await hasRoom(), asked.length]).toEqual([false, 1])
    await clock.advance('1s')
    expect([await hasRoom(), asked.length]).toEqual([false, 2])
  })

  it('warns once a scope has used most of it, if nobody has set it', async () => {
    for (const [options, warnings] of [
      [{}, [expect.stringMatching(/four fifths of the 1000000 keys.*`quota: false`/)]],
      [{ quota: 1_000_000 }, []],
    ] as const) {
      const { guard, warned } = guardWith({ scope: () => 'a', ...options })
      for (let at = 0; at < 10_000; at++) guard.quota?.added('a')
      await guard.quota?.hasRoom(guard, 'a')
      expect(warned).toEqual(warnings)
    }
  })

  it.each([
    ['for a constant scope', { scope: 'public' }],
    ['if it is false', { scope: () => 'a', quota: false }],
    ['if it is infinite', { scope: () => 'a', quota: Number.POSITIVE_INFINITY }],
  ] as const)('is none %s', async (_, options) => {
    const { guard, asked } = guardWith(options)
    for (let at = 0; at < 10_000; at++) guard.quota?.added('a')
    expect([(await guard.quota?.hasRoom(guard, 'a')) ?? true, asked]).toEqual([true, []])
  })

  it('asks the store once this process has made a hundredth of it, since others make keys too', async () => {
    const shop = shopWith(300)
    shop.store.count = async () => 300
    expect(await statuses(shop, ['1', '2', '3', '4'])).toEqual([201, 201, 201, 429])
  })

  it('lets requests that come at once share one count', async () => {
    const shop = shopWith(100)
    await statuses(shop, ['1'])
    await Promise.all(['2', '3', '4'].map((key) => statuses(shop, [key])))
    expect(shop.counts.asked).toBe(1)
  })

  it.each([
    ['the store can not count', undefined],
    ['it gives something else than a number', () => 'many' as never],
  ])('refuses with 503 where %s, and runs nothing', async (_, quota) => {
    const shop = shopWith(quota ?? 1)
    if (!quota) shop.store.count = () => Promise.reject(new StorageError('down'))
    expect(await statuses(shop, ['1'])).toEqual([503])
    expect((await shop.ledger.atomic(() => json({}))(ask('2'))).status).toBe(503)
    expect(shop.orders).toEqual([])
    expect(shop.events.filter(({ type }) => type === 'ledger.failed')).toHaveLength(2)
  })

  it.each([0, -1, 1.5, 'many', null])('is refused where it is %j', (quota) => {
    const options = { store: memoryLedger(), scope: 'public', quota: quota as never }
    expect(() => createLedger(options)).toThrow(/`quota` must be a whole number of at least 1, or a function/)
  })
})
