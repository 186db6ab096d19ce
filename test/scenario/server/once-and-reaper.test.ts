import { describe, expect, it } from 'vitest'
import { ask, gate, protectedShop, settleDown } from '../../support/protected-shop.ts'

describe('a message', () => {
  it('is worked on once, and a duplicate gets what the first one gave', async () => {
    const { ledger, orders, order } = protectedShop()
    const consume = () =>
      ledger.once(
        'm1',
        (tx) => {
          order(tx, 'm1')
          return { mailed: 1 }
        },
        { scope: 'mails' },
      )
    expect(await consume()).toEqual({ duplicate: false, value: { mailed: 1 } })
    expect(await consume()).toEqual({ duplicate: true, value: { mailed: 1 } })
    expect((await ledger.once('m1', () => 'other', { scope: 'invoices' })).duplicate).toBe(false)
    expect(orders).toEqual(['m1'])
  })

  it('is worked on again where the first one failed', async () => {
    const { ledger, orders, order } = protectedShop()
    const work = ledger.once(
      'm1',
      (tx) => {
        order(tx, 'undone')
        throw new Error('boom')
      },
      { scope: 's' },
    )
    await expect(work).rejects.toThrow('boom')
    expect(await ledger.once('m1', () => undefined, { scope: 's' })).toEqual({ duplicate: false, value: undefined })
    expect(await ledger.once('m1', () => 1, { scope: 's' })).toEqual({ duplicate: true, value: undefined })
    expect(orders).toEqual([])
  })

  it('delivered to two at once waits for the first', async () => {
    const { ledger, clock } = protectedShop()
    const held = gate()
    let runs = 0
    const consume = () =>
      ledger.once(
        'm',
        async () => {
          runs++
          await held.opened
          return runs
        },
        { scope: 's' },
      )
    const both = Promise.all([consume(), consume()])
    await settleDown(clock)
    held.open()
    expect(await both).toEqual([
      { duplicate: false, value: 1 },
      { duplicate: true, value: 1 },
    ])
  })

  it('is forgotten after its own retention', async () => {
    const { ledger, clock } = protectedShop()
    await ledger.once('m', () => 1, { scope: 's', retention: '7d' })
    await clock.advance('6d')
    expect((await ledger.once('m', () => 2, { scope: 's' })).duplicate).toBe(true)
    await clock.advance('1d')
    expect((await ledger.once('m', () => 3, { scope: 's' })).duplicate).toBe(false)
  })

  it('needs an id and a scope', async () => {
    const { ledger } = protectedShop()
    await expect(ledger.once('', () => 1, { scope: 's' })).rejects.toThrow(/id/)
    await expect(ledger.once('m', () => 1, {} as never)).rejects.toThrow(/`scope` is missing/)
    await expect(ledger.once('m', () => 1n, { scope: 's' })).rejects.toThrow(/message m returned is kept as JSON/)
  })
})

describe('the reaper', () => {
  it('deletes in batches what has outlived its retention, and nothing that runs', async () => {
    const { ledger, placeOrder, serve, clock } = protectedShop({ retention: '1h' })
    for (let n = 0; n < 25; n++) await placeOrder(ask(`k${n}`))
    const never = serve(() => new Promise(() => {}))
    void never(ask('running'))
    await ledger.once('m', () => 1, { scope: 's' })
    expect(await ledger.reap()).toEqual({ deleted: 0, abandoned: 0, more: false })
    await clock.advance('1h')
    await placeOrder(ask('fresh'))
    expect(await ledger.stats()).toEqual({ running: 1, done: 26, unknown: 0, expired: 26, messages: 1 })
    expect(await ledger.reap({ limit: 20 })).toEqual({ deleted: 20, abandoned: 0, more: true })
    expect(await ledger.reap({ limit: 20 })).toEqual({ deleted: 6, abandoned: 0, more: false })
    expect(await ledger.stats()).toEqual({ running: 1, done: 1, unknown: 0, expired: 0, messages: 0 })
  })

  it('keeps what may have had an effect outside, as unknown', async () => {
    const shop = protectedShop({ retention: '1h' }, { external: true })
    shop.store.renew = () => new Promise(() => {})
    const dead = shop.serve(() => new Promise(() => {}))
    void dead(ask('k'))
    await shop.clock.advance('2m')
    expect(await shop.ledger.reap()).toEqual({ deleted: 0, abandoned: 1, more: false })
    await shop.clock.advance('2h')
    expect(await shop.ledger.reap()).toEqual({ deleted: 0, abandoned: 0, more: false })
    expect((await shop.ledger.find('public', 'k'))?.state).toBe('unknown')
  })

  it('comes by itself until it is stopped', async () => {
    const { ledger, placeOrder, clock } = protectedShop({ retention: '2m' })
    const reaper = ledger.startReaper({ every: '60s', limit: 3 })
    for (let n = 0; n < 10; n++) await placeOrder(ask(`k${n}`))
    await clock.advance('121s')
    expect((await ledger.stats()).done).toBe(0)
    await reaper.stop()
    await placeOrder(ask('later'))
    await clock.advance('10m')
    expect((await ledger.stats()).done).toBe(1)
    expect(clock.pending()).toBe(0)
  })

  it('comes each minute and takes a thousand at a time, where nothing else was said', async () => {
    const { ledger, store, clock } = protectedShop()
    const asked: number[][] = []
    const started = clock.now()
    store.reap = async ({ limit, now }) => {
      asked.push([limit, now - started])
      return { deleted: 0, abandoned: 0, more: false }
    }
    await ledger.reap()
    ledger.startReaper()
    await clock.advance('2m')
    expect(asked).toEqual([
      [1000, 0],
      [1000, 60_000],
      [1000, 120_000],
    ])
    await ledger.close()
  })

  it('goes on after a failure of the store, and ends with its ledger', async () => {
    const { ledger, store, events, clock } = protectedShop()
    store.reap = () => Promise.reject(new Error('down'))
    ledger.startReaper()
    await clock.advance('2m')
    expect(events.map(({ type }) => type)).toEqual(['ledger.failed', 'ledger.failed'])
    await ledger.close()
    expect(clock.pending()).toBe(0)
  })
})
