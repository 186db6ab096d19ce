import { describe, expect, it } from 'vitest'
import { LEASE_MS, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** An operation that is carried on: its call gave up, and was told that it stays pending. */
async function kept() {
  const place = neighbourhood()
  place.server.weather = () => ({ status: 503 })
  const client = place.client({ retry: false })
  const call = { body: 'one', id: 'order:1' } as const
  const { error } = await outcome(client.post('/charges', { ...call, onGiveUp: 'keep' }))
  expect(error).toMatchObject({ pending: true })
  const status = async (): Promise<string | undefined> => (await client.operation('order:1'))?.status
  return { place, client, call, status }
}

const later = { 'a retry': 'retry', 'a call with its id': 'join' } as const

describe('an operation that is carried on', () => {
  for (const [name, how] of Object.entries(later)) {
    it(`outlives ${name} that gives up, from another client`, async () => {
      const { place, call, status } = await kept()
      const other = place.client({ retry: false })
      const asked = how === 'retry' ? other.retry('order:1') : other.post('/charges', call)
      expect((await outcome(asked)).error).toMatchObject({ reason: 'attempts', pending: true, effect: 'unknown' })
      expect(await status()).toBe('pending')
      place.server.weather = () => 'fine'
      expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect(totalEffects(place.server)).toBe(1)
    })

    it(`outlives the signal of ${name}`, async () => {
      const { place, client, call, status } = await kept()
      place.server.weather = () => 'hang-before'
      const { signal, abort } = aborting()
      const asked = outcome(
        how === 'retry' ? client.retry('order:1', { signal }) : client.post('/charges', { ...call, signal }),
      )
      await settle(place.clock)
      expect(place.server.calls).toHaveLength(2)
      abort()
      await place.clock.advance(50)
      expect((await asked).error).toMatchObject({ message: 'enough' })
      await place.clock.advance(60_000)
      expect(place.server.calls).toHaveLength(2)
      expect(await status()).toBe('pending')
      place.server.weather = () => 'fine'
      expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    })
  }

  it('outlives a signal that aborts before the journal has said that it is there', async () => {
    const { place, client, call, status } = await kept()
    const { signal, abort } = aborting()
    const asked = outcome(client.post('/charges', { ...call, signal }))
    abort()
    await settle(place.clock)
    expect((await asked).error).toMatchObject({ message: 'enough' })
    expect(await status()).toBe('pending')
    expect(place.server.calls).toHaveLength(1)
  })

  it('outlives a caller whose credentials are refused, or cannot be made', async () => {
    const { place, status } = await kept()
    const failing = () => {
      throw new Error('no token')
    }
    const broken = place.client({ headers: failing, retry: false })
    expect((await outcome(broken.retry('order:1'))).error).toMatchObject({ reason: 'auth', pending: true })
    place.server.weather = () => ({ status: 401 })
    const refused = place.client({ headers: { authorization: 'old' }, retry: false })
    expect((await outcome(refused.retry('order:1'))).error).toMatchObject({ reason: 'auth', pending: true })
    expect(await status()).toBe('pending')
  })

  it('is done for a call that comes while the one before it is leaving', async () => {
    const { place, client, call } = await kept()
    place.server.weather = (_, n) => (n === 2 ? 'hang-before' : 'fine')
    const { signal, abort } = aborting()
    const left = outcome(client.retry('order:1', { signal }))
    await settle(place.clock)
    abort()
    const [retried, joined] = [client.retry('order:1'), client.post('/charges', call)]
    await place.clock.advance(1000)
    expect((await left).error).toMatchObject({ message: 'enough' })
    expect([(await retried).status, (await joined).status]).toEqual([201, 201])
    expect(totalEffects(place.server)).toBe(1)
  })

  it('is cancelled by `cancel`, and by a handle', async () => {
    for (const by of ['client', 'handle'] as const) {
      const { place, client, status } = await kept()
      place.server.weather = () => 'hang-before'
      const handle = client.retry('order:1')
      const asked = outcome(handle)
      await settle(place.clock)
      await (by === 'client' ? client.cancel('order:1') : handle.cancel())
      expect((await asked).error).toMatchObject({ reason: 'aborted', pending: false })
      expect(await status()).toBe('cancelled')
    }
  })

  it('is cancelled by the signal of the call that made it', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const client = place.client()
    const { signal, abort } = aborting()
    const made = outcome(client.post('/charges', { body: 'one', id: 'order:1', onGiveUp: 'keep', signal }))
    await settle(place.clock)
    abort()
    await place.clock.advance(50)
    expect((await made).error).toMatchObject({ message: 'enough' })
    expect((await client.operation('order:1'))?.status).toBe('cancelled')
  })

  it('is no longer once it has failed: what a retry took up again fails with the retry', async () => {
    const { place, client, status } = await kept()
    await client.cancel('order:1')
    expect((await outcome(client.retry('order:1'))).error).toMatchObject({ reason: 'attempts', pending: false })
    expect(await status()).toBe('failed')
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
  })
})

describe('an operation that a resume has taken up', () => {
  it('outlives a call that gives up', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ retry: false })
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect((await outcome(client.retry(key))).error).toMatchObject({ pending: true })
  })

  it('goes on when a caller that has joined it leaves', async () => {
    const { place, client } = await kept()
    place.server.weather = () => 'hang-before'
    const resumed = client.resume()
    await settle(place.clock)
    const { signal, abort } = aborting()
    const joined = outcome(client.retry('order:1', { signal }))
    await settle(place.clock)
    abort()
    await place.clock.advance(50)
    expect((await joined).error).toMatchObject({ message: 'enough' })
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ claimed: 1, pending: 1 })
    expect(place.server.calls).toHaveLength(2)
  })
})

function aborting() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) }
}
