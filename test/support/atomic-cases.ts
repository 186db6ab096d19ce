import { expect, it } from 'vitest'
import type { EffectReturn, Reply } from '../../src/server/entry/reply.ts'
import { createLedger, json, type Ledger, type LedgerOptions } from '../../src/server/index.ts'

/** A ledger with one table of charges beside it. */
export interface AtomicShop<Tx> {
  ledger(options?: Partial<LedgerOptions<Tx, never>>): Ledger<Tx, EffectReturn | Reply>
  charge(tx: Tx, amount: number): void | Promise<void>
  charges(): Promise<number>
}

export function shopLedger<Tx>(options: LedgerOptions<Tx, never>): Ledger<Tx, EffectReturn | Reply> {
  return createLedger<Tx, never>(options) as unknown as Ledger<Tx, EffectReturn | Reply>
}

export function post(key: string, body: unknown = { amount: 5 }): Request {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  return new Request('http://shop.test/charges', { method: 'POST', headers, body: JSON.stringify(body) })
}

async function seen(response: Response): Promise<readonly unknown[]> {
  return [response.status, await response.text(), response.headers.get('idempotency-replayed')]
}

let count = 0

/** What an atomic handler is on every store. */
export function describeAtomic<Tx>(open: () => AtomicShop<Tx>): void {
  /** Charges the amount, and answers with this status. */
  const charging = (shop: AtomicShop<Tx>, status = 201, options?: Partial<LedgerOptions<Tx, never>>) => {
    const end = (): Reply => json({ made: ++count }, { status })
    return shop.ledger(options).atomic((request, tx) => {
      const charged = shop.charge(tx, request.json<{ amount: number }>().amount)
      return charged instanceof Promise ? charged.then(end) : end()
    })
  }

  it('commits its work with the answer, and replays that', async () => {
    const shop = open()
    const handler = charging(shop)
    const first = await seen(await handler(post('a')))
    expect(first).toEqual([201, expect.stringMatching(/^\{"made":\d+\}$/), null])
    expect(await seen(await handler(post('a')))).toEqual([201, first[1], 'true'])
    expect(await shop.charges()).toBe(1)
  })

  it('rolls back for a 4xx, which is recorded', async () => {
    const shop = open()
    const handler = charging(shop, 402)
    const first = await seen(await handler(post('a')))
    expect(await seen(await handler(post('a')))).toEqual([402, first[1], 'true'])
    expect(await shop.charges()).toBe(0)
  })

  it('rolls back for a 5xx and for a throw, and the key is free', async () => {
    const shop = open()
    expect((await charging(shop, 503)(post('a'))).status).toBe(503)
    const broken = shop.ledger().atomic(() => {
      throw new Error('broken')
    })
    await expect(broken(post('a'))).rejects.toThrow('broken')
    expect(await shop.charges()).toBe(0)
    expect((await charging(shop)(post('a'))).status).toBe(201)
    expect(await shop.charges()).toBe(1)
  })

  it('refuses another request under the key, and one without a key', async () => {
    const shop = open()
    const handler = charging(shop)
    await handler(post('a'))
    expect((await handler(post('a', { amount: 6 }))).status).toBe(422)
    const keyless = post('a')
    keyless.headers.delete('idempotency-key')
    expect((await handler(keyless)).status).toBe(400)
    expect(await shop.charges()).toBe(1)
  })

  it('commits the work of a request that needs no key', async () => {
    const shop = open()
    const handler = charging(shop, 201, { required: false })
    const keyless = (): Request => new Request('http://shop.test/charges', { method: 'POST', body: '{"amount":5}' })
    expect([(await handler(keyless())).status, (await handler(keyless())).status]).toEqual([201, 201])
    expect(await shop.charges()).toBe(2)
  })

  it('gives the key, the scope and keys for calls to others', async () => {
    const contexts: unknown[] = []
    const handler = open()
      .ledger()
      .atomic((_, __, { key, scope, deriveKey }) => {
        contexts.push([key, scope, deriveKey('charge')])
        return json({}, { status: 503 })
      })
    await handler(post('a'))
    await handler(post('a'))
    expect(contexts[0]).toEqual(['a', 'public', expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(contexts[1]).toEqual(contexts[0])
  })

  it('of thirty at once with one key does the work once, and everyone is told what came of it', async () => {
    const shop = open()
    const handler = charging(shop)
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await handler(post('a'))).status))
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
    expect(statuses).toContain(201)
    expect(await shop.charges()).toBe(1)
  })

  it('leaves alone what another handler may have done outside', async () => {
    const shop = open()
    const ledger = shop.ledger()
    const external = ledger.protect(() => Promise.reject(new Error('lost')), { external: true })
    await expect(external(post('a'))).rejects.toThrow('lost')
    const response = await charging(shop)(post('a'))
    expect([response.status, (await response.json()) as unknown]).toMatchObject([409, { type: /outcome-unknown/ }])
    expect(await shop.charges()).toBe(0)
  })

  it.each([
    ['no handler', (ledger: Ledger) => ledger.atomic(undefined as never), /needs a handler/],
    ['an unknown option', (ledger: Ledger) => ledger.atomic(() => json({}), { isolatoin: 1 } as never), /isolation/],
  ])('is refused at set-up with %s', (_, make, message) => {
    expect(() => make(open().ledger() as unknown as Ledger)).toThrow(message)
  })

  it('is refused at set-up by a ledger for external handlers', () => {
    expect(() =>
      open()
        .ledger({ external: true })
        .atomic(() => json({})),
    ).toThrow(/inside of the transaction/)
  })
}
