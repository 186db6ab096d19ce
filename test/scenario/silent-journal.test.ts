import { describe, expect, it } from 'vitest'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { neighbourhood, outcome, settle } from '../support/shared-clients.ts'

describe('a journal that never answers', () => {
  it('holds nobody who asks for an operation beyond the deadline, also if the clock is set back meanwhile', async () => {
    const place = neighbourhood()
    let aheadMs = 0
    const clock = { ...place.clock, now: () => place.clock.now() + aheadMs }
    const key = await leaveKept(place, 'one')
    const { client, held } = clientOnHeldDisk(place, { clock })
    held.hold('read', 'before')
    const asked = outcome(client.retry(key, { deadline: '5s' }))
    await settle(place.clock)
    aheadMs = -2000
    await place.clock.advance(5000)
    expect((await asked).error).toMatchObject({ reason: 'deadline', pending: true })
  })

  it('keeps no answer from its caller for much longer than the deadline', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const handle = client.post('/charges', { id: 'one', body: 'one', deadline: '5s' })
    const call = outcome(handle)
    await handle.accepted
    held.hold('commit', 'before')
    await place.clock.advance(10_000)
    expect((await call).value?.status).toBe(201)
  })

  it('lets a caller go that it keeps from trying again, and does not claim that nothing was done', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'answer-lost'
    const { client, held } = clientOnHeldDisk(place)
    const handle = client.post('/charges', { body: 'one', deadline: '5s' })
    const call = outcome(handle)
    await handle.accepted
    held.hold('commit', 'before')
    await place.clock.advance(10_000)
    expect((await call).error).toMatchObject({ reason: 'deadline', effect: 'unknown', pending: true })
  })
})
