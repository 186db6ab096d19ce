import { describe, expect, it } from 'vitest'
import { LEASE_MS, leaveBehind, neighbourhood, outcome } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const ELSEWHERE = 'http://127.0.0.1:2'

describe('two clients with different base URLs on one journal', () => {
  it('leave the operations of each other as they are', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(LEASE_MS)
    const other = place.client({ baseUrl: ELSEWHERE })
    const before = await place.disk.execute([{ do: 'read', namespace: 'default', keyOrId: key }])
    expect(await other.resume()).toMatchObject({ claimed: 0, pending: 0 })
    expect(await place.disk.execute([{ do: 'read', namespace: 'default', keyOrId: key }])).toEqual(before)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('carry on with what each may send, while both resume continuously', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    const others = [1, 2, 3].map(() => place.client({ baseUrl: ELSEWHERE }))
    const clients = [...others, place.client()]
    const watching = clients.map((client) => client.resume({ continuous: true }))
    await place.clock.advance(1000)
    expect(totalEffects(place.server)).toBe(1)
    for (const { events } of others) expect(events).toEqual([])
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(watching)
  })

  it('deliver the settlements of each other', async () => {
    const place = neighbourhood()
    await outcome(place.client().post('/charges', { body: 'one', name: 'charge' }))
    const other = place.client({ baseUrl: ELSEWHERE })
    const told: string[] = []
    other.onSettled('charge', ({ status }) => void told.push(status))
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(told).toEqual(['succeeded'])
  })

  it('may send to the trusted origins too, and without a base anywhere', async () => {
    for (const options of [{ baseUrl: ELSEWHERE, trustedOrigins: ['http://127.0.0.1:1'] }, { baseUrl: undefined }]) {
      const place = neighbourhood()
      await leaveBehind(place)
      await place.clock.advance(LEASE_MS)
      expect(await place.client(options).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    }
  })
})
