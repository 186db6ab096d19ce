import { describe, expect, it } from 'vitest'
import { json, type LedgerOptions } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

function twoAccounts(options: Partial<LedgerOptions> = {}) {
  const scope = (request: Request): string => request.headers.get('account') ?? 'leaving'
  return protectedShop({ scope, ...(options as object) })
}

describe('erase', () => {
  it('removes what was answered, and remembers that it was done', async () => {
    const shop = twoAccounts()
    await shop.placeOrder(ask('k'))
    await shop.ledger.once('m', () => 'private', { scope: 'leaving' })
    expect(await shop.ledger.erase('leaving')).toEqual({ erased: 2, left: 0 })
    const again = await shop.placeOrder(ask('k'))
    expect([again.status, await again.text(), again.headers.get('idempotency-body')]).toEqual([201, '', 'omitted'])
    expect(await shop.ledger.once('m', () => 'again', { scope: 'leaving' })).toEqual({
      duplicate: true,
      value: undefined,
    })
    expect(shop.orders).toEqual(['k'])
  })

  it('deletes what is done where that is asked, so that a retry is run again', async () => {
    const shop = twoAccounts()
    await shop.placeOrder(ask('k'))
    await shop.placeOrder(ask('k', { headers: { account: 'staying' } }))
    expect(await shop.ledger.erase('leaving', { what: 'entries' })).toEqual({ erased: 1, left: 0 })
    expect(await shop.ledger.find('leaving', 'k')).toBeUndefined()
    await shop.placeOrder(ask('k'))
    await shop.placeOrder(ask('k', { headers: { account: 'staying' } }))
    expect(shop.orders).toEqual(['k', 'k', 'k'])
  })

  it('leaves what is unknown, and says how much that is', async () => {
    const shop = twoAccounts()
    const broken = shop.ledger.protect(async () => Promise.reject(new Error('timed out')), { external: true })
    await broken(ask('unknown')).catch(() => {})
    expect(await shop.ledger.erase('leaving', { what: 'entries' })).toEqual({ erased: 0, left: 1 })
    expect((await shop.ledger.find('leaving', 'unknown'))?.state).toBe('unknown')
    expect(shop.events.at(-1)).toMatchObject({ type: 'scope.erased', scope: 'leaving', what: 'entries', left: 1 })
  })

  it('covers encrypted answers', async () => {
    const encryption = {
      seal: (bytes: Uint8Array) => bytes.slice().reverse(),
      open: (bytes: Uint8Array) => bytes.slice().reverse(),
    }
    const shop = twoAccounts({ encryption, fingerprintKey: 'a secret of some length' })
    await shop.placeOrder(ask('k'))
    await shop.ledger.erase('leaving')
    expect((await shop.ledger.find('leaving', 'k'))?.answer).toMatchObject({ headers: [], body: null })
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })

  it('goes on batch after batch, until it is aborted', async () => {
    const shop = twoAccounts()
    const controller = new AbortController()
    const batches: unknown[] = []
    shop.store.erase = async (batch) => {
      batches.push(batch.after)
      if (batches.length === 2) controller.abort(new Error('enough'))
      return { erased: 1, left: 0, next: { table: 'entries', last: `k${batches.length}` } }
    }
    await expect(shop.ledger.erase('leaving', { signal: controller.signal })).rejects.toThrow('enough')
    expect(batches).toEqual([undefined, { table: 'entries', last: 'k1' }])
    await expect(shop.ledger.erase('leaving', { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no')
    expect(batches).toHaveLength(2)
  })

  it.each([
    [['', {}], /`scope` must be/],
    [['s', { what: 'all' }], /`erase.what` must be 'answers' or 'entries'/],
    [['s', { signal: 1 }], /`erase.signal` must be an AbortSignal/],
    [['s', { wat: 'answers' }], /Did you mean `erase.what`/],
  ])('refuses %j', async (given, sentence) => {
    const { ledger } = twoAccounts()
    await expect(ledger.erase(...(given as [string, object]))).rejects.toThrow(sentence)
  })

  it('does not touch a request that is being served', async () => {
    const shop = twoAccounts()
    const handler = shop.serve(async (_, { key }) => {
      await shop.ledger.erase('leaving', { what: 'entries' })
      return json({ key })
    })
    expect((await handler(ask('k'))).status).toBe(200)
    expect((await shop.ledger.find('leaving', 'k'))?.state).toBe('done')
  })
})
