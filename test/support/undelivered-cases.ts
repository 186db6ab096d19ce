import { expect, it } from 'vitest'
import type { Journal } from '../../src/client/journal/port.ts'
import type { Client, DeadLetter } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood } from './shared-clients.ts'

const DAY_MS = 86_400_000

async function deadLetters(client: Client): Promise<DeadLetter[]> {
  const found: DeadLetter[] = []
  for await (const one of client.deadLetters()) found.push(one)
  return found
}

/** A call whose settlement no handler has taken, and another one long after it, which sweeps the journal. */
async function leaveUndelivered(place: Neighbourhood, afterMs: number): Promise<void> {
  await place.client().post('/charges', { body: 'one', name: 'charge', id: 'order:1' })
  await place.clock.advance(afterMs)
  const sweeping = place.client()
  await sweeping.post('/charges', { body: 'two' })
  await sweeping.flush()
}

/** What becomes of a settlement that its handler does not take, on any journal. */
export function undeliveredCases(open: () => Journal): void {
  it('is a dead letter, reason undelivered, once it is older than its retention, and never before', async () => {
    const place = neighbourhood(open())
    const client = place.client()
    await leaveUndelivered(place, DAY_MS - 60_000)
    expect(await deadLetters(client)).toEqual([])
    await place.clock.advance(120_000)
    expect(await deadLetters(client)).toMatchObject([
      { id: 'order:1', status: 'succeeded', effect: 'applied', reason: 'undelivered', keptUntil: undefined },
    ])
    expect(await client.operation('order:1')).toMatchObject({ status: 'succeeded', reason: 'undelivered' })
    for await (const { id, reason } of client.operations({ limit: 1 }))
      expect([id, reason]).toEqual(['order:1', 'undelivered'])
  })

  it('is delivered as soon as a handler takes it, by the first resume of a client that has one', async () => {
    const place = neighbourhood(open())
    await leaveUndelivered(place, 3 * DAY_MS)
    const told: string[] = []
    const worker = place.client()
    worker.onSettled('charge', ({ operation, status }) => void told.push(`${operation.id} ${status}`))
    await worker.resume()
    expect(told).toEqual(['order:1 succeeded'])
    expect(await deadLetters(worker)).toEqual([])
  })

  it('is kept for its retention from the delivery on', async () => {
    const place = neighbourhood(open())
    await leaveUndelivered(place, 3 * DAY_MS)
    const worker = place.client()
    worker.onSettled('charge', () => {})
    await worker.resume()
    await place.clock.advance(DAY_MS - 60_000)
    await worker.resume()
    await worker.flush()
    expect(await worker.operation('order:1')).toMatchObject({ status: 'succeeded', reason: undefined })
    await place.clock.advance(120_000)
    await worker.resume()
    await worker.flush()
    expect(await worker.operation('order:1')).toBeUndefined()
  })
}
