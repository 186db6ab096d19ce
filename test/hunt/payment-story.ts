import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import type { Backstage } from './backstage.ts'
import { pause } from './pause.ts'
import { PretendProvider } from './pretend-provider.ts'
import type { ShopInput } from './shop-process.ts'
import type { StopPoint } from './shop-work.ts'

/** A shop is killed at this point of a payment; the same request comes to another one, until it is answered. */
export async function killedPayment(backstage: Backstage, stopAt: StopPoint): Promise<PaymentStory> {
  // Dice that never fall badly.
  const provider = new PretendProvider(() => 0.5)
  const input: ShopInput = {
    store: backstage.addressOf(0),
    provider: await provider.start(),
    adapter: 'node',
    // A shop that is alive renews it in time, however busy its machine is; the second one waits for its end.
    leaseMs: 10_000,
  }
  const key = randomUUID()
  try {
    const first = await openShop({ ...input, stopAt })
    const cutOff = expect(pay(first.origin, key)).rejects.toThrow()
    // Awaited below, unless something else fails before.
    cutOff.catch(() => {})
    await first.child.until((line) => line.includes('"stopped"'))
    const { status: whileRunning } = await pay(first.origin, key)
    await first.child.kill()
    await cutOff
    const second = await openShop(input)
    const answers = [await payUntilAnswered(second.origin, key), await pay(second.origin, key)]
    const entry = await backstage.find(key)
    const charges = provider.charges.get(key) ?? []
    return { whileRunning, answers, charges: charges.length, requests: provider.requests, state: entry?.state }
  } finally {
    provider.stop()
  }
}

interface PaymentStory {
  /** What a duplicate was told while the first was at work. */
  readonly whileRunning: number
  readonly answers: readonly Answered[]
  readonly charges: number
  /** How often the provider was asked to charge. */
  readonly requests: number
  readonly state: string | undefined
}

interface Answered {
  readonly status: number
  readonly text: string
  readonly location: string | null
  readonly isReplayed: boolean
}

async function openShop(input: ShopInput): Promise<{ readonly child: LineProcess; readonly origin: string }> {
  const child = await startProgram('../hunt/shop-process', input)
  const ready = await child.until((line) => line.includes('"ready"'))
  return { child, origin: `http://127.0.0.1:${(JSON.parse(ready) as { port: number }).port}` }
}

async function pay(origin: string, key: string): Promise<Answered> {
  const headers = { 'idempotency-key': key, 'content-type': 'application/json' }
  const response = await fetch(`${origin}/payments`, { method: 'POST', headers, body: '{"number":1}' })
  const { status } = response
  return {
    status,
    text: await response.text(),
    location: response.headers.get('location'),
    isReplayed: response.headers.get('idempotency-replayed') === 'true',
  }
}

async function payUntilAnswered(origin: string, key: string): Promise<Answered> {
  for (;;) {
    const answer = await pay(origin, key)
    if (answer.status !== 409) return answer
    await pause(50)
  }
}
