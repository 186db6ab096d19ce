import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import type { ProtectOptions } from '../../../src/server/index.ts'
import { ask, protectedShop, settleDown } from '../../support/protected-shop.ts'

const down = (): Promise<never> => Promise.reject(new StorageError('down'))

/** A shop whose handler has no effect, and whose store can lose its voice. */
function shopWithHandler(protect: ProtectOptions = {}) {
  const shop = protectedShop({}, protect)
  const { complete, renew } = shop.store
  let runs = 0
  const handler = shop.serve(async () => {
    runs++
    return new Response(`run ${runs}`, { status: 201 })
  })
  const goDown = (): void => {
    shop.store.complete = down
    shop.store.renew = down
  }
  const comeBack = (): void => {
    shop.store.complete = complete
    shop.store.renew = renew
  }
  const told = (type: string): number => shop.events.filter((event) => event.type === type).length
  const state = async (): Promise<string> => (await shop.ledger.find('public', 'k'))?.state ?? 'absent'
  return { ...shop, handler, runs: () => runs, goDown, comeBack, told, state }
}

describe('an answer that the store could not take', () => {
  it('is sent, and recorded as soon as the store is back', async () => {
    const shop = shopWithHandler()
    shop.goDown()
    expect((await shop.handler(ask('k'))).status).toBe(201)
    expect((await shop.handler(ask('k'))).status).toBe(409)
    await shop.clock.advance('20s')
    shop.comeBack()
    await shop.clock.advance('6s')
    const again = await shop.handler(ask('k'))
    expect([again.status, again.headers.get('idempotency-replayed'), await again.text()]).toEqual([
      201,
      'true',
      'run 1',
    ])
    expect([shop.runs(), shop.told('entry.recorded'), shop.clock.pending()]).toEqual([1, 1, 0])
  })

  it('is not given as the last word where it is a "no", until it is on record', async () => {
    const shop = protectedShop({})
    const { complete } = shop.store
    const handler = shop.serve(async () => new Response('declined', { status: 422 }))
    shop.store.complete = down
    const first = await handler(ask('k'))
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, null])
    shop.store.complete = complete
    await shop.clock.advance('6s')
    const again = await handler(ask('k'))
    expect([again.status, again.headers.get('idempotency-replayed'), await again.text()]).toEqual([
      422,
      'true',
      'declined',
    ])
  })

  it('keeps its claim for as long as that takes', async () => {
    const shop = shopWithHandler()
    const { complete } = shop.store
    shop.store.complete = down
    await shop.handler(ask('k'))
    for (let minute = 0; minute < 5; minute++) {
      await shop.clock.advance('60s')
      expect((await shop.handler(ask('k'))).status).toBe(409)
    }
    shop.store.complete = complete
    await shop.clock.advance('6s')
    expect((await shop.handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(shop.runs()).toBe(1)
  })

  it('is recorded where a reaper has made its entry unknown meanwhile', async () => {
    const shop = shopWithHandler({ external: true })
    shop.goDown()
    await shop.handler(ask('k'))
    await shop.clock.advance('61s')
    await shop.ledger.reap()
    expect(await shop.state()).toBe('unknown')
    shop.comeBack()
    await shop.clock.advance('6s')
    expect((await shop.handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(shop.runs()).toBe(1)
  })

  it('is neither sent nor recorded if it comes after the end of its lease', async () => {
    const shop = shopWithHandler({ external: true })
    let aborted = false
    const slow = shop.serve(async (_, { signal }) => {
      await shop.clock.sleep(90_000)
      aborted = signal.aborted
      return new Response('done', { status: 201 })
    })
    shop.goDown()
    const answer = slow(ask('k'))
    await shop.clock.advance('61s')
    await shop.ledger.reap()
    shop.comeBack()
    await shop.clock.advance('30s')
    const { status, headers } = await answer
    expect([status, headers.get('retry-after'), aborted]).toEqual([503, null, true])
    expect([await shop.state(), shop.told('claim.lost')]).toEqual(['unknown', 1])
  })

  it('is on record already where only the word of it was lost', async () => {
    const shop = shopWithHandler()
    const complete = shop.store.complete.bind(shop.store)
    shop.store.complete = (...given) => complete(...given).then(down)
    expect((await shop.handler(ask('k'))).status).toBe(201)
    shop.store.complete = complete
    await shop.clock.advance('1s')
    expect([shop.told('entry.recorded'), shop.told('claim.lost'), shop.clock.pending()]).toEqual([1, 0, 0])
  })

  it('is given up where another request has taken over', async () => {
    const shop = shopWithHandler()
    shop.goDown()
    await shop.handler(ask('k'))
    await shop.clock.advance('61s')
    shop.comeBack()
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
    await shop.clock.advance('6s')
    expect(await (await shop.handler(ask('k'))).json()).toEqual({ ordered: 'k' })
    expect([shop.told('claim.lost'), shop.clock.pending()]).toEqual([1, 0])
  })

  it('is tried once more when the ledger closes', async () => {
    const shop = shopWithHandler()
    shop.goDown()
    await shop.handler(ask('k'))
    shop.comeBack()
    await shop.ledger.close()
    expect([await shop.state(), shop.clock.pending()]).toEqual(['done', 0])
  })

  it('does not keep a ledger from closing', async () => {
    const shop = shopWithHandler()
    shop.goDown()
    await shop.handler(ask('k'))
    await shop.ledger.close()
    const hanging = shopWithHandler()
    hanging.goDown()
    await hanging.handler(ask('k'))
    hanging.store.complete = () => new Promise(() => {})
    const closed = hanging.ledger.close()
    await settleDown(hanging.clock)
    await hanging.clock.advance('5s')
    await closed
    expect([shop.clock.pending(), hanging.clock.pending()]).toEqual([0, 0])
  })
})
