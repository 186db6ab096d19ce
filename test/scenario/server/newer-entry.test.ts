import { expect, it } from 'vitest'
import { ask, protectedShop } from '../../support/protected-shop.ts'

it('an entry that a newer version has written is not run again by an older one', async () => {
  const shop = protectedShop()
  await shop.placeOrder(ask('k'))
  const insert = shop.store.insert.bind(shop.store)
  shop.store.insert = async (draft) => {
    const insertion = await insert(draft)
    if (insertion.kind === 'inserted') return insertion
    const { found } = insertion
    // Whatever else it says can't be understood: not even that it is over.
    return { ...insertion, found: { ...found, entry: { ...found.entry, version: 2, expiresAt: 0 } } }
  }
  const answer = await shop.placeOrder(ask('k'))
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await answer.json()).toMatchObject({ type: 'urn:holdfast:problem:unavailable' })
  expect(shop.orders).toEqual(['k'])
  expect(shop.events.at(-1)).toMatchObject({ type: 'request.refused', reason: 'written-by-newer' })
})
