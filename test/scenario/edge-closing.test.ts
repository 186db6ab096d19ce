import { describe, expect, it } from 'vitest'
import { rowsOf } from '../support/client-scenario.ts'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

describe('an answer that comes while the client closes', () => {
  const FINAL = {
    'a 400': { status: 400 },
    'a 503 with a do-not-retry verdict': { status: 503, headers: { 'do-not-retry': 'true' } },
  }
  for (const [what, answer] of Object.entries(FINAL)) {
    it(`settles the operation where it is ${what}: no later resume sends it again`, async () => {
      const place = neighbourhood()
      const client = place.client()
      place.server.weather = () => ({ ...answer, delay: 2000 })
      const call = outcome(client.post('/charges', { id: 'order:1', body: 'one' }))
      await settle(place.clock)
      const closed = client.close()
      await place.clock.advance(2000)
      await closed
      expect((await call).error).toMatchObject({ name: 'RejectedError', pending: false })
      const later = place.client()
      expect(await later.resume()).toMatchObject({ claimed: 0 })
      expect(await later.operation('order:1')).toMatchObject({ status: 'rejected' })
      expect(place.server.calls).toHaveLength(1)
    })
  }
})

describe('a client that is closed while its resume claims', () => {
  for (const at of ['before', 'after'] as const) {
    it(`sends nothing after close() resolved, and holds no lease (stopped ${at} the claim was written)`, async () => {
      const place = neighbourhood()
      for (const id of ['order:1', 'order:2', 'order:3']) await leaveKept(place, id)
      const sent = place.server.calls.length
      const { client, held } = clientOnHeldDisk(place)
      const release = held.hold('claim', at)
      const resumed = client.resume()
      await settle(place.clock)
      const closed = client.close()
      await settle(place.clock)
      release()
      await closed
      expect((await rowsOf(place.disk)).map((row) => row.owner)).toEqual([null, null, null])
      await place.clock.advance(60_000)
      expect(place.server.calls).toHaveLength(sent)
      expect(await resumed).toMatchObject({ claimed: 0 })
      expect(await place.client().resume()).toMatchObject({ claimed: 3, succeeded: 3 })
    })
  }

  it('leaves the claims as it found them: nobody died with them', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    const [before] = await rowsOf(place.disk)
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('claim', 'after')
    void client.resume()
    await settle(place.clock)
    const closed = client.close()
    release()
    await closed
    const [after] = await rowsOf(place.disk)
    expect(after).toMatchObject({ dueAt: before?.dueAt, notBefore: before?.notBefore, status: 'pending' })
    expect(await listed(place.client())).toHaveLength(1)
  })
})
