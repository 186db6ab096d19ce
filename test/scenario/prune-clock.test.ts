import { expect, it } from 'vitest'
import { rowsOf } from '../support/client-scenario.ts'
import { KEPT_MS, listed, neighbourhood, settle } from '../support/shared-clients.ts'

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

it('prunes in time what others have left, although the last time was by a clock that was ahead', async () => {
  const place = neighbourhood()
  let aheadMs = 86_400_000
  const client = place.client({ clock: { ...place.clock, now: () => place.clock.now() + aheadMs } })
  await client.post('/charges', { body: 'ahead' })
  await client.flush()
  const other = place.client()
  await other.post('/charges', { body: 'of another' })
  await other.close()
  aheadMs = 0
  await place.clock.advance(KEPT_MS - 1)
  expect(await rowsOf(place.disk)).toHaveLength(2)
  await place.clock.advance(1)
  expect(await rowsOf(place.disk)).toHaveLength(1)
})
