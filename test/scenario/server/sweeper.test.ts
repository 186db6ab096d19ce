import { describe, expect, it } from 'vitest'
import { isHoldfastError } from '../../../src/errors/holdfast-error.ts'
import { type Entry, json, type LedgerEvent, type Reconciled } from '../../../src/server/index.ts'
import { ask, protectedShop, settleDown } from '../../support/protected-shop.ts'

type Shop = ReturnType<typeof protectedShop>

/** Handlers that have charged and then threw: their entries are unknown. */
async function leaveUnknown(shop: Shop, keys: readonly string[]): Promise<void> {
  const broken = shop.ledger.protect(
    async () => {
      throw new Error('provider timed out')
    },
    { external: true },
  )
  for (const key of keys) await broken(ask(key)).catch(() => {})
}

const stateOf = async ({ ledger }: Shop, key: string): Promise<string> =>
  (await ledger.find('public', key))?.state ?? 'absent'

async function keysOf(entries: AsyncIterable<Entry>): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of entries) keys.push(key)
  return keys
}

describe('entries', () => {
  it('are listed oldest first, by state and scope, from the last one seen', async () => {
    const shop = protectedShop()
    await leaveUnknown(shop, ['a', 'b'])
    await shop.placeOrder(ask('c'))
    expect(await keysOf(shop.ledger.entries())).toEqual(['a', 'b', 'c'])
    expect(await keysOf(shop.ledger.entries({ state: 'unknown', scope: 'public' }))).toEqual(['a', 'b'])
    const after = await shop.ledger.find('public', 'a')
    expect(await keysOf(shop.ledger.entries({ after, limit: 1 }))).toEqual(['b'])
  })

  it.each([
    ['an unknown name', { sate: 'unknown' }, /There is no option `entries.sate`. Did you mean `entries.state`\?/],
    ['a state that is none', { state: 'lost' }, /`entries.state` must be 'running' or 'done' or 'unknown'/],
    ['an empty scope', { scope: '' }, /`entries.scope` must be a string that is not empty/],
    ['a key alone', { after: 'k' }, /`entries.after` must be an entry, the last one seen/],
    ['no limit at all', { limit: 0 }, /`entries.limit` must be a whole number of at least 1/],
  ])('are refused at once for %s', (_, query, sentence) => {
    expect(() => protectedShop().ledger.entries(query as never)).toThrow(sentence)
  })
})

describe('options that do not exist', () => {
  it('are refused with the nearest spelling', async () => {
    const { ledger } = protectedShop({ reconcile: () => undefined })
    expect(() => ledger.startReaper({ reconsile: true } as never)).toThrow('Did you mean `startReaper.reconcile`?')
    await expect(ledger.reap({ limt: 1 } as never)).rejects.toThrow('Did you mean `reap.limit`?')
    await expect(ledger.once('m', () => 1, { scop: 's' } as never)).rejects.toThrow('Did you mean `once.scope`?')
  })
})

describe('a reaper that reconciles', () => {
  it('finds out what is unknown without a client that returns', async () => {
    const outcomes: Record<string, Reconciled> = { paid: json({ charge: 1 }, { status: 201 }), never: 'rerun' }
    const asked: string[] = []
    const reconcile = (entry: Entry): Reconciled => {
      asked.push(entry.key)
      return outcomes[entry.key]
    }
    const shop = protectedShop({ reconcile })
    await leaveUnknown(shop, ['paid', 'never', 'later'])
    const reaper = shop.ledger.startReaper({ every: '10s', reconcile: true })
    await shop.clock.advance('10s')
    expect(asked).toEqual(['paid', 'never', 'later'])
    expect([await stateOf(shop, 'paid'), await stateOf(shop, 'never'), await stateOf(shop, 'later')]).toEqual([
      'done',
      'absent',
      'unknown',
    ])
    const replay = await shop.placeOrder(ask('paid'))
    expect([await replay.json(), replay.headers.get('idempotency-replayed')]).toEqual([{ charge: 1 }, 'true'])
    await shop.clock.advance('10s')
    expect(asked.slice(3)).toEqual(['later'])
    await reaper.stop()
    const told = shop.events.filter(({ type }) => type === 'entry.recorded' || type === 'entry.released')
    expect(told).toMatchObject([
      { type: 'entry.recorded', key: 'paid', status: 201 },
      { type: 'entry.released', key: 'never' },
    ])
  })

  it('tells of what has become unknown, and of what fails', async () => {
    const reconcile = (): never => {
      throw new Error('provider down')
    }
    const shop = protectedShop({ reconcile }, { external: true })
    shop.store.renew = () => new Promise(() => {})
    void shop.serve(() => new Promise(() => {}))(ask('dead'))
    await shop.clock.advance('61s')
    shop.events.splice(0)
    const reaper = shop.ledger.startReaper({ reconcile: true })
    await shop.clock.advance('60s')
    await reaper.stop()
    const renewals = (event: LedgerEvent): boolean => event.type === 'ledger.failed' && isHoldfastError(event.error)
    expect(shop.events.filter((event) => !renewals(event))).toMatchObject([
      { type: 'entry.abandoned', key: 'dead', method: 'POST', path: '/orders' },
      { type: 'entry.claimed', key: 'dead', takenOver: true },
      { type: 'ledger.failed', error: { message: 'provider down' } },
      { type: 'entry.abandoned', key: 'dead' },
      { type: 'reaper.passed', deleted: 0, abandoned: 1, reconciled: 0, unknown: 1 },
    ])
  })

  it('tells a reconciliation how long ago the handler began, however often it asks', async () => {
    const ages: number[] = []
    const shop: Shop = protectedShop({
      reconcile: ({ createdAt }: Entry) => void ages.push(shop.clock.now() - createdAt) as undefined,
    })
    await leaveUnknown(shop, ['k'])
    const reaper = shop.ledger.startReaper({ every: '50s', reconcile: true })
    await shop.clock.advance('150s')
    expect((await shop.placeOrder(ask('k'))).status).toBe(409)
    expect(ages).toEqual([50_000, 100_000, 150_000, 150_000])
    await reaper.stop()
  })

  it('begins to count anew where the handler has run again', async () => {
    const ages: number[] = []
    let found: Reconciled = 'rerun'
    const shop: Shop = protectedShop({
      reconcile: ({ createdAt }: Entry) => {
        ages.push(shop.clock.now() - createdAt)
        return found
      },
    })
    await leaveUnknown(shop, ['k'])
    await shop.clock.advance('60s')
    await leaveUnknown(shop, ['k'])
    found = undefined
    await shop.clock.advance('10s')
    await leaveUnknown(shop, ['k'])
    expect(ages).toEqual([60_000, 10_000])
  })

  it('asks no more at once than its limit, and goes on behind them the next time', async () => {
    const asked: string[] = []
    const shop = protectedShop({ reconcile: ({ key }: Entry) => void asked.push(key) as undefined })
    await leaveUnknown(shop, ['a', 'b', 'c'])
    const reaper = shop.ledger.startReaper({ every: '10s', limit: 2, reconcile: true })
    await shop.clock.advance('10s')
    expect(asked).toEqual(['a', 'b'])
    await shop.clock.advance('10s')
    expect(asked).toEqual(['a', 'b', 'c'])
    await shop.clock.advance('10s')
    expect(asked.slice(3)).toEqual(['a', 'b'])
    await reaper.stop()
  })

  it('in each of two replicas asks about an entry one at a time', async () => {
    const asking: string[] = []
    const together: string[] = []
    const shop: Shop = protectedShop({
      reconcile: async ({ key }: Entry) => {
        asking.push(key)
        together.push([...asking].sort().join())
        await shop.clock.sleep(5_000)
        asking.splice(asking.indexOf(key), 1)
        return undefined
      },
    })
    await leaveUnknown(shop, ['a', 'b'])
    // Slow enough for both to find an entry before either has claimed it.
    const takeOver = shop.store.takeOver.bind(shop.store)
    shop.store.takeOver = (found, draft) => shop.clock.sleep(10).then(() => takeOver(found, draft))
    const reapers = [1, 2].map(() => shop.ledger.startReaper({ every: '10s', reconcile: true }))
    await shop.clock.advance('14s')
    // Each has one; that of the other is passed over.
    expect(together).toEqual(['a', 'a,b'])
    expect((await shop.placeOrder(ask('a'))).status).toBe(409)
    await shop.clock.advance('60s')
    const stopped = Promise.all(reapers.map((reaper) => reaper.stop()))
    await shop.clock.advance('60s')
    await stopped
    expect(together).not.toContain('a,a')
    expect(together).not.toContain('b,b')
    expect([await stateOf(shop, 'a'), await stateOf(shop, 'b')]).toEqual(['unknown', 'unknown'])
  })

  it('is not stopped by a question without an answer', async () => {
    const asked: string[] = []
    const shop = protectedShop({
      reconcile: ({ key }: Entry) => {
        asked.push(key)
        return key === 'hangs' ? new Promise<undefined>(() => {}) : json({})
      },
    })
    await leaveUnknown(shop, ['hangs', 'paid'])
    const reaper = shop.ledger.startReaper({ every: '10s', reconcile: true })
    await shop.clock.advance('71s')
    expect([asked.slice(0, 2), await stateOf(shop, 'paid')]).toEqual([['hangs', 'paid'], 'done'])
    expect(shop.events).toContainEqual(
      expect.objectContaining({ type: 'ledger.failed', error: expect.objectContaining({ effect: 'unknown' }) }),
    )
    const stopped = reaper.stop()
    await shop.clock.advance('60s')
    await stopped
  })

  it('does not keep its ledger from closing', async () => {
    const shop = protectedShop({ reconcile: () => new Promise<undefined>(() => {}) })
    await leaveUnknown(shop, ['k'])
    shop.ledger.startReaper({ every: '10s', reconcile: true })
    await shop.clock.advance('10s')
    await shop.ledger.close()
    expect([await stateOf(shop, 'k'), shop.clock.pending()]).toEqual(['unknown', 0])
  })

  it('never deletes what is unknown', async () => {
    const shop = protectedShop({ retention: '1h', reconcile: () => undefined })
    await leaveUnknown(shop, ['k'])
    const reaper = shop.ledger.startReaper({ reconcile: true })
    await shop.clock.advance('3h')
    await reaper.stop()
    expect(await stateOf(shop, 'k')).toBe('unknown')
  })

  it('needs a function to ask', async () => {
    expect(() => protectedShop().ledger.startReaper({ reconcile: true })).toThrow(/needs the option `reconcile`/)
    const { ledger, clock } = protectedShop()
    const reaper = ledger.startReaper({ reconcile: false })
    await settleDown(clock)
    await reaper.stop()
  })
})
