import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import type { Duration } from '../../../src/foundation/duration.ts'
import type { LedgerStore } from '../../../src/server/adapter/index.ts'
import { type LedgerEvent, type MemoryTransaction, memoryLedger } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

type Shop = ReturnType<typeof protectedShop>

const warnings: Error[] = []
const hear = (warning: Error): void => void warnings.push(warning)
beforeAll(() => void process.on('warning', hear))
afterAll(() => void process.off('warning', hear))

/** A store in memory that counts as one that outlives its process. */
function keptStore(): LedgerStore<MemoryTransaction> {
  return Object.assign(memoryLedger(), { name: 'kept' })
}

function eventsOf<Type extends LedgerEvent['type']>({ events }: Pick<Shop, 'events'>, type: Type) {
  return events.filter((event): event is Extract<LedgerEvent, { type: Type }> => event.type === type)
}

async function leaveUnknown(shop: Shop, key: string): Promise<void> {
  const broken = shop.ledger.protect(async () => Promise.reject(new Error('timed out')), { external: true })
  await broken(ask(key)).catch(() => {})
}

describe('a pass of the reaper', () => {
  it('tells what it did, and how much is unknown since when', async () => {
    const shop = protectedShop({ retention: '2m' })
    await shop.placeOrder(ask('done'))
    const since = shop.clock.now()
    await leaveUnknown(shop, 'unknown')
    const reaper = shop.ledger.startReaper()
    await shop.clock.advance('3m')
    await reaper.stop()
    const quiet = { abandoned: 0, reconciled: 0, unknown: 1, oldestUnknownAt: since, durationMs: 0 }
    expect(eventsOf(shop, 'reaper.passed')).toMatchObject([
      { ...quiet, deleted: 0 },
      { ...quiet, deleted: 1 },
      { ...quiet, deleted: 0 },
    ])
  })

  it('keeps the age of what reconcile can not find out, and counts what it can', async () => {
    const shop = protectedShop({ reconcile: ({ key }) => (key === 'never' ? 'rerun' : undefined) })
    const since = shop.clock.now()
    await leaveUnknown(shop, 'never')
    await leaveUnknown(shop, 'later')
    const reaper = shop.ledger.startReaper({ reconcile: true })
    await shop.clock.advance('2m')
    await reaper.stop()
    expect(eventsOf(shop, 'reaper.passed')).toMatchObject([
      { reconciled: 1, unknown: 1, oldestUnknownAt: since },
      { reconciled: 0, unknown: 1, oldestUnknownAt: since },
    ])
    expect(eventsOf(shop, 'entry.abandoned').at(-1)).toMatchObject({ key: 'later', unknownSince: since })
  })

  it('is not told where the store failed in it', async () => {
    const shop = protectedShop()
    shop.store.gauges = () => Promise.reject(new StorageError('down'))
    const reaper = shop.ledger.startReaper()
    await shop.clock.advance('1m')
    await reaper.stop()
    expect(shop.events.map(({ type }) => type)).toEqual(['ledger.failed'])
  })
})

describe('a ledger without a reaper', () => {
  /** Past its retention for as long as given. */
  async function overdueBy(time: Duration, options: Parameters<typeof protectedShop>[0] = {}): Promise<Shop> {
    const shop = protectedShop({ retention: '2m', store: keptStore(), ...options })
    await shop.placeOrder(ask('old'))
    await shop.clock.advance('2m')
    await shop.clock.advance(time)
    return shop
  }

  it('says so when entries are overdue by more than an hour, once an hour', async () => {
    const shop = await overdueBy('61m')
    const oldestExpiredAt = shop.clock.now() - 61 * 60_000
    for (const key of ['a', 'b']) await shop.placeOrder(ask(key))
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toMatchObject([{ oldestExpiredAt }])
    await shop.clock.advance('1h')
    await shop.placeOrder(ask('c'))
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toHaveLength(2)
  })

  it('looks for atomic handlers too', async () => {
    const shop = await overdueBy('61m')
    await shop.ledger
      .atomic(() => ({ status: 200 }) as never)(ask('a'))
      .catch(() => {})
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toHaveLength(1)
  })

  it.each([
    ['they are overdue by less', '59m', {}],
    ['it is in memory', '2h', { store: memoryLedger() as never }],
  ] as const)('is silent where %s', async (_, time, options) => {
    const shop = await overdueBy(time, options)
    await shop.placeOrder(ask('a'))
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toEqual([])
  })

  it('is silent while a reaper of this process runs, and in its first minute', async () => {
    const shop = await overdueBy('2h')
    const reaper = shop.ledger.startReaper({ every: '1d' })
    await shop.placeOrder(ask('a'))
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toEqual([])
    await reaper.stop()
    await reaper.stop()
    await shop.placeOrder(ask('b'))
    await shop.clock.advance(0)
    expect(eventsOf(shop, 'reaper.overdue')).toHaveLength(1)
    const young = protectedShop({ store: shop.store as never, clock: shop.clock })
    await young.placeOrder(ask('c'))
    await shop.clock.advance(0)
    expect(eventsOf(young, 'reaper.overdue')).toEqual([])
  })

  it('neither delays nor fails a request because of it', async () => {
    const shop = await overdueBy('61m')
    shop.store.gauges = () => new Promise(() => {})
    expect((await shop.placeOrder(ask('a'))).status).toBe(201)
    await shop.clock.advance('1h')
    shop.store.gauges = () => Promise.reject(new StorageError('down'))
    expect((await shop.placeOrder(ask('b'))).status).toBe(201)
    await shop.clock.advance('5s')
    expect(eventsOf(shop, 'ledger.failed')).toEqual([])
  })

  it('has warned once for the whole process, by all of these', () => {
    expect(warnings.filter(({ name }) => name === 'HoldfastWarning').map(({ message }) => message)).toEqual([
      expect.stringContaining('entries past their retention are not deleted: call ledger.startReaper()'),
    ])
  })
})
