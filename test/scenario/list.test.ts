import { describe, expect, it } from 'vitest'
import type { OperationView } from '../../src/index.ts'
import { neighbourhood, outcome } from '../support/shared-clients.ts'

async function all(operations: AsyncIterable<OperationView>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of operations) ids.push(id ?? '')
  return ids
}

async function filled(count: number) {
  const place = neighbourhood()
  const client = place.client({ retry: false, budget: false, breaker: false })
  place.server.weather = (call) =>
    Number(call.text) % 3 === 0 ? { status: 503 } : Number(call.text) % 3 === 1 ? { status: 400 } : 'fine'
  const ids = Array.from({ length: count }, (_, n) => `${n}`)
  for (const id of ids) {
    await outcome(
      client.post('/charges', {
        body: id,
        id,
        onGiveUp: Number(id) % 6 === 0 ? 'keep' : 'fail',
        metadata: { n: Number(id) },
      }),
    )
  }
  return { client, ids, place }
}

describe('the list of operations', () => {
  it('goes by the order of acceptance, over any number of pages', async () => {
    const { client, ids } = await filled(230)
    expect(await all(client.operations())).toEqual(ids)
  })

  it('takes a limit, also across pages, and goes on behind a key or an id', async () => {
    const { client, ids } = await filled(130)
    expect(await all(client.operations({ limit: 3 }))).toEqual(['0', '1', '2'])
    expect(await all(client.operations({ limit: 120 }))).toEqual(ids.slice(0, 120))
    expect(await all(client.operations({ limit: 2, after: '2' }))).toEqual(['3', '4'])
    const key = (await client.operation('5'))?.key ?? ''
    expect(await all(client.operations({ after: key, limit: 2 }))).toEqual(['6', '7'])
    expect(await all(client.operations({ limit: 0 }))).toEqual([])
  })

  it('takes a status', async () => {
    const { client, ids } = await filled(24)
    const by = (keep: (n: number) => boolean): string[] => ids.filter((id) => keep(Number(id)))
    expect(await all(client.operations({ status: 'pending' }))).toEqual(by((n) => n % 6 === 0))
    expect(await all(client.operations({ status: 'failed' }))).toEqual(by((n) => n % 6 === 3))
    expect(await all(client.operations({ status: 'rejected' }))).toEqual(by((n) => n % 3 === 1))
    expect(await all(client.operations({ status: 'succeeded', limit: 2 }))).toEqual(['2', '5'])
    expect(await all(client.operations({ status: 'cancelled' }))).toEqual([])
  })

  it('shows each one without its body and its headers', async () => {
    const { client, place } = await filled(1)
    const shown: OperationView[] = []
    for await (const operation of client.operations()) shown.push(operation)
    expect(shown).toEqual([
      {
        key: expect.any(String),
        id: '0',
        name: undefined,
        metadata: { n: 0 },
        lane: undefined,
        holdsLane: false,
        status: 'pending',
        attempts: 1,
        acceptedAt: place.clock.now(),
        method: 'POST',
        url: 'http://127.0.0.1:1/charges',
        effect: 'unknown',
        inFlight: false,
        horizonAt: place.clock.now() + 28_800_000,
        nextAttemptAt: expect.any(Number),
        reason: 'attempts',
      },
    ])
  })
})
