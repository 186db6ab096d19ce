import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

export interface Charging {
  charge(request: Request): Promise<Response>
  /** How many rows there are with this amount. */
  rows(amount: number): Promise<number>
  /** The state of the key's entry; undefined where the key is free. */
  state(key: string): Promise<string | undefined>
}

let amounts = 0

/** Each amount is charged by one test only. */
const nextAmount = (atLeast: number): number => atLeast + ++amounts

export function order(key: string, amount: number): Request {
  const headers = { authorization: 'Bearer 4f1d', 'idempotency-key': key, 'content-type': 'application/json' }
  return new Request('http://127.0.0.1/charges', { method: 'POST', headers, body: JSON.stringify({ amount }) })
}

/** What a transaction with effect, key and answer in it shows to the outside, whichever library wrote the effect. */
export function chargeCases(charging: () => Promise<Charging>): void {
  it('keeps the row and the answer together, and gives the answer again to a second request', async () => {
    const { charge, rows, state } = await charging()
    const [key, amount] = [randomUUID(), nextAmount(0)]
    const first = await charge(order(key, amount))
    expect([first.status, await first.json()]).toEqual([201, { amount }])
    expect(await state(key)).toBe('done')
    const second = await charge(order(key, amount))
    expect([second.status, await second.json()]).toEqual([201, { amount }])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await rows(amount)).toBe(1)
  })

  it('undoes the row of a refusal, and gives the refusal again', async () => {
    const { charge, rows, state } = await charging()
    const [key, amount] = [randomUUID(), nextAmount(1000)]
    expect((await charge(order(key, amount))).status).toBe(402)
    expect([await rows(amount), await state(key)]).toEqual([0, 'done'])
    const second = await charge(order(key, amount))
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([402, 'true'])
    expect(await rows(amount)).toBe(0)
  })

  it('keeps neither row nor key where the work throws', async () => {
    const { charge, rows, state } = await charging()
    const [key, amount] = [randomUUID(), nextAmount(10_000)]
    await expect(charge(order(key, amount))).rejects.toThrow('No such amount')
    await expect.poll(() => state(key)).toBeUndefined()
    expect(await rows(amount)).toBe(0)
  })

  it('keeps the row of one of several requests at the same time', async () => {
    const { charge, rows } = await charging()
    const [key, amount] = [randomUUID(), nextAmount(0)]
    const answers = await Promise.all([1, 2, 3].map(() => charge(order(key, amount))))
    expect(answers.map(({ status }) => status).sort()[0]).toBe(201)
    expect(await rows(amount)).toBe(1)
  })
}
