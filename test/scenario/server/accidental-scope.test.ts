import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../../src/errors/classes.ts'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const userOf = (request: Request): { readonly tenant: string } | undefined =>
  request.headers.get('authorization') === 'Bearer alice' ? { tenant: 'alice' } : undefined

describe('a request whose scope is an accident', () => {
  it.each([
    ['tenant-undefined', (request: Request) => `tenant-${userOf(request)?.tenant}`],
    ['undefined', (request: Request) => String(userOf(request)?.tenant)],
    ['acct:null', () => `acct:${null}`],
    ['a/NaN', () => `a/${Number('x')}`],
    ['[object Object]', () => String({})],
    ['[object Promise]', () => String(Promise.resolve('alice'))],
    ['   ', () => '   '],
  ])('fails without a look at the store, for %j', async (_, scope) => {
    const shop = protectedShop({ scope })
    const asked: unknown[] = []
    const insert = shop.store.insert.bind(shop.store)
    shop.store.insert = (draft) => {
      asked.push(draft.scope)
      return insert(draft)
    }
    const failure = shop.placeOrder(ask('k'))
    await expect(failure).rejects.toThrow(ConfigurationError)
    await expect(failure).rejects.toThrow(/The option `scope` must give a non-empty string/)
    expect([asked, shop.orders]).toEqual([[], []])
    expect(shop.events.at(-1)).toMatchObject({ type: 'ledger.failed', error: { name: 'ConfigurationError' } })
  })

  it('never gets the answer of another caller without an account', async () => {
    const { ledger } = protectedShop({ scope: (request) => `tenant-${userOf(request)?.tenant}` })
    const greet = ledger.protect(async (request) => Response.json(request.headers.get('x-name')))
    const from = (name: string) => greet(ask('k', { headers: { 'x-name': name } }))
    await expect(from('alice')).rejects.toThrow(ConfigurationError)
    await expect(from('bob')).rejects.toThrow(ConfigurationError)
  })

  it('passes if its scope only looks like one', async () => {
    for (const scope of ['annulled', 'nullable-co', 'undefinedness']) {
      const shop = protectedShop({ scope: () => scope })
      expect((await shop.placeOrder(ask('k'))).status).toBe(201)
      expect(await shop.ledger.find(scope, 'k')).toBeDefined()
    }
  })
})

describe('a scope that a program names', () => {
  const { ledger } = protectedShop()

  it.each(['tenant-undefined', 'null', ' '])('is refused at once if it is %j', async (scope) => {
    expect(() => createLedger({ store: memoryLedger(), scope })).toThrow(ConfigurationError)
    await expect(ledger.once('m', () => 1, { scope })).rejects.toThrow(ConfigurationError)
    await expect(ledger.erase(scope)).rejects.toThrow(ConfigurationError)
  })
})
