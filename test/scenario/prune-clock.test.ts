import { expect, it } from 'vitest'
import { listed, neighbourhood, settle } from '../support/shared-clients.ts'

it('goes on pruning after a clock that was ahead for one call was set back', async () => {
  const place = neighbourhood()
  let aheadMs = 86_400_000
  const clock = { ...place.clock, now: () => place.clock.now() + aheadMs }
  const client = place.client({ clock })
  await client.post('/charges', { body: 'ahead' })
  await client.flush()
  aheadMs = 0
  await client.post('/charges', { body: 'back' })
  await place.clock.advance(120_000)
  await client.post('/charges', { body: 'later' })
  await client.flush()
  await settle(place.clock)
  expect(await listed(client)).toHaveLength(2)
})
