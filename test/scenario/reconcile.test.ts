import { describe, expect, it } from 'vitest'
import type { OperationView, Settlement } from '../../src/index.ts'
import { leaveBehind, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const PAST = 8 * 3_600_000

describe('reconcile', () => {
  it('is asked before an operation expires, and its answer is the settlement', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { name: 'charge', id: 'order:1' })
    await place.clock.advance(PAST)
    const asked: OperationView[] = []
    const client = place.client({
      reconcile: async (operation) => {
        asked.push(operation)
        return { status: 'succeeded', response: new Response('{"found":true}', { status: 201 }) }
      },
    })
    const told: Settlement[] = []
    client.onSettled('charge', (settlement) => told.push(settlement))
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1, expired: 0 })
    expect(asked).toMatchObject([{ key, id: 'order:1', name: 'charge', status: 'pending', attempts: 1 }])
    expect(await told[0]?.response?.json()).toEqual({ found: true })
    expect(await client.post('/charges', { body: 'one', id: 'order:1' }).json()).toEqual({ found: true })
    expect(place.server.calls).toHaveLength(1)
  })

  it('may not know: then it expires', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(PAST)
    expect(await place.client({ reconcile: () => undefined }).resume()).toMatchObject({ expired: 1 })
  })

  it('may say that nothing was done', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(PAST)
    const client = place.client({ reconcile: () => ({ status: 'rejected', effect: 'none' }) })
    const { error } = await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    expect(error).toMatchObject({ effect: 'none', pending: false })
    expect((await client.operation('order:1'))?.status).toBe('rejected')
  })

  it('that throws leaves the operation pending, and the next resume asks again', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(PAST)
    let fail = true
    const client = place.client({
      reconcile: () => {
        if (fail) throw new Error('the server is away')
        return { status: 'succeeded' }
      },
    })
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(await listed(client)).toEqual([expect.stringContaining('pending')])
    fail = false
    await place.clock.advance(60_000)
    await settle(place.clock)
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.server.calls).toHaveLength(1)
  })

  it('is not asked while the operation can still be sent', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(60_000)
    const client = place.client({ reconcile: () => expect.unreachable('not yet') })
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
  })

  it('that answers nonsense is refused, and the operation is not lost', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(PAST)
    const client = place.client({ reconcile: () => ({ status: 'done' }) as never })
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(await listed(client)).toEqual([expect.stringContaining('pending')])
  })
})
