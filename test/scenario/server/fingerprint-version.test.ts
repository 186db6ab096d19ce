import { describe, expect, it } from 'vitest'
import { ask, protectedShop } from '../../support/protected-shop.ts'

/** A shop in which the entry of `k` has been written with another way of making fingerprints. */
async function shopOfAnotherVersion(rewrite: (fingerprint: string) => string) {
  const shop = protectedShop()
  const insert = shop.store.insert.bind(shop.store)
  shop.store.insert = (draft) => insert({ ...draft, fingerprint: rewrite(draft.fingerprint) })
  await shop.placeOrder(ask('k'))
  shop.store.insert = insert
  return shop
}

const digestOf = (fingerprint: string): string => fingerprint.slice(fingerprint.indexOf(':') + 1)
const OTHER = 'f'.repeat(64)

describe('a fingerprint', () => {
  it('is stored with its version', async () => {
    const shop = protectedShop()
    await shop.placeOrder(ask('k'))
    expect((await shop.ledger.find('public', 'k'))?.fingerprint).toMatch(/^2\/bytes-json:[0-9a-f]{64}$/)
  })

  it.each([
    ['before versions', (fingerprint: string) => digestOf(fingerprint)],
    ['in the first version', (fingerprint: string) => `1:${digestOf(fingerprint)}`],
    ['in a later version', (fingerprint: string) => `3/other:${digestOf(fingerprint)}`],
  ])('made %s, and equal all the same, is that of a retry', async (_, rewrite) => {
    const shop = await shopOfAnotherVersion(rewrite)
    expect((await shop.placeOrder(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
  })

  it.each([
    ['before versions', () => OTHER],
    ['in the first version', () => `1:${OTHER}`],
    ['in a later version, as after a deploy that was rolled back', () => `3/other:${OTHER}`],
    ['with a secret that is gone', () => `2/bytes-json/1a2b3c4d:${OTHER}`],
  ])('made %s does not refuse a retry for good, nor run it again', async (_, rewrite) => {
    const shop = await shopOfAnotherVersion(rewrite)
    const answer = await shop.placeOrder(ask('k'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await answer.json()).toMatchObject({ type: 'urn:holdfast:problem:unavailable' })
    expect(shop.events.at(-1)).toMatchObject({ type: 'request.refused', reason: 'other-version' })
    expect(shop.orders).toEqual(['k'])
    await shop.clock.advance('24h')
    expect((await shop.placeOrder(ask('k'))).status).toBe(201)
  })

  it('made in this version tells another request', async () => {
    const shop = await shopOfAnotherVersion(() => `2/bytes-json:${OTHER}`)
    expect((await shop.placeOrder(ask('k'))).status).toBe(422)
  })
})
