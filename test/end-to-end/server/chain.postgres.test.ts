import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/index.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/postgres/index.ts'
import { journalScene } from '../../support/postgres-journal.ts'
import type { PgTransaction } from '../../support/postgres-ledger.ts'

const scene = journalScene()
beforeAll(() => scene.query('CREATE TABLE orders (cart integer NOT NULL)'))

/** What becomes of an order once its rows and its receipt are written. */
type End = 'stored' | 'refused' | 'thrown'

let count = 0

/** Order, answer and receipt in one transaction, on one Postgres. */
function shop(kind: 'effect' | 'atomic') {
  const pool = scene.pool()
  const receipts: unknown[] = []
  const cart = ++count
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    namespace: `chain-${cart}`,
    journal: scene.journalWith({ pool, schema: scene.schema }),
    fetch: async (_, init) => {
      receipts.push(JSON.parse(new TextDecoder().decode(init?.body as Uint8Array)))
      return new Response('sent')
    },
  })
  const ledger = createLedger({ store: postgresLedger({ pool, schema: scene.schema }), scope: 'public' })
  const order = async (tx: PgTransaction, end: End) => {
    await tx.query('INSERT INTO orders VALUES ($1)', [cart])
    const receipt = await client.prepare('POST', '/mails', { json: { cart } })
    await receipt.persist(tx)
    if (end === 'thrown') throw new Error('changed its mind')
    return end === 'refused' ? json({ cart }, { status: 402 }) : json({ cart }, { status: 201 })
  }
  const handlers = {
    effect: ledger.protect(async (request, { effect }) => {
      const { end } = (await request.json()) as { end: End }
      return effect((tx) => order(tx, end))
    }),
    atomic: ledger.atomic((request, tx) => order(tx, request.json<{ end: End }>().end)),
  }
  const post = (end: End) => {
    const init = { method: 'POST', body: JSON.stringify({ end }), headers: { 'idempotency-key': `cart-${cart}` } }
    return handlers[kind](new Request('http://127.0.0.1/orders', init))
  }
  const orders = async () => (await scene.query('SELECT FROM orders WHERE cart = $1', [cart])).length
  return { cart, client, post, receipts, orders }
}

describe.each(['effect', 'atomic'] as const)('a handler with %s', (kind) => {
  it('commits order, answer and the next operation together, once for all its retries', async () => {
    const { cart, client, post, receipts, orders } = shop(kind)
    expect((await post('stored')).status).toBe(201)
    const again = await post('stored')
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(await orders()).toBe(1)
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(receipts).toEqual([{ cart }])
    await client.close()
  })

  it.each(['refused', 'thrown'] as const)('leaves neither order nor operation where it is %s', async (end) => {
    const { client, post, receipts, orders } = shop(kind)
    const status = await post(end).then((response) => response.status, String)
    expect(status).toBe({ refused: 402, thrown: 'Error: changed its mind' }[end])
    expect(await orders()).toBe(0)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(receipts).toEqual([])
    await client.close()
  })
})
