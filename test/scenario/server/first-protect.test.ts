import { describe, expect, it } from 'vitest'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'

function shop() {
  const orders: number[] = []
  const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
  const handler = ledger.protect(async (request, { effect }) => {
    const { amount } = (await request.json()) as { amount: number }
    return effect((tx) => {
      orders.push(amount)
      tx.onRollback(() => orders.pop())
      return json({ order: orders.length }, { status: amount < 0 ? 402 : 201 })
    })
  })
  return { orders, handler }
}

function post(key: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request('http://127.0.0.1/orders', {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

describe('a protected handler', () => {
  it('does its work once per key and replays the answer', async () => {
    const { orders, handler } = shop()
    const first = await handler(post('k1', { amount: 5 }))
    const second = await handler(post('k1', { amount: 5 }))
    expect([first.status, second.status]).toEqual([201, 201])
    expect(await second.text()).toBe(await first.text())
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(first.headers.get('idempotency-retention')).toBe('86400')
    expect(orders).toEqual([5])
  })

  it('undoes the work of a 4xx and replays the refusal', async () => {
    const { orders, handler } = shop()
    expect((await handler(post('k2', { amount: -1 }))).status).toBe(402)
    expect((await handler(post('k2', { amount: -1 }))).headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual([])
  })

  it('refuses another request under the same key', async () => {
    const { orders, handler } = shop()
    await handler(post('k3', { amount: 1 }))
    const other = await handler(post('k3', { amount: 2 }))
    expect(other.status).toBe(422)
    expect(await other.json()).toMatchObject({ type: 'urn:holdfast:problem:key-reused' })
    expect(orders).toEqual([1])
  })
})
