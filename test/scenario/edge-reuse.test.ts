import { describe, expect, it } from 'vitest'
import { nodeDigest } from '../../src/foundation/node-digest.ts'
import { IndeterminateError, KeyReuseError } from '../../src/index.ts'
import { rowsOf } from '../support/client-scenario.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { isSettled, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const RIGHT = { id: 'order:1', body: 'one' } as const
const WRONG = { id: 'order:1', body: 'another' } as const

/** The journal has an answer under an id, and a call that uses this id for something else is just being written. */
async function wrongCallUnderWay() {
  const place = neighbourhood()
  const earlier = place.client().post('/charges', RIGHT)
  await earlier
  const { client, held } = clientOnHeldDisk(place)
  await client.operation('nobody')
  const release = held.hold('append', 'before')
  const wrong = outcome(client.post('/charges', { ...WRONG, deadline: '10m' }))
  await settle(place.clock)
  return { place, client, release, wrong, key: earlier.key }
}

describe('while a call that misuses an id is being written', () => {
  it('a call with what the id stands for gets the recorded answer; the other one is refused', async () => {
    const { place, client, release, wrong, key } = await wrongCallUnderWay()
    const right = outcome(client.post('/charges', RIGHT))
    expect(await isSettled(right, place.clock)).toBe(false)
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
    const { value, error } = await right
    expect(error).toBeUndefined()
    expect(await value?.json()).toEqual({ key })
    expect(place.server.calls).toHaveLength(1)
  })

  it('a retry of that id gets the recorded answer', async () => {
    const { place, client, release, wrong, key } = await wrongCallUnderWay()
    const retried = outcome(client.retry('order:1'))
    expect(await isSettled(retried, place.clock)).toBe(false)
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
    const { value, error } = await retried
    expect(error).toBeUndefined()
    expect(await value?.json()).toEqual({ key })
    expect(place.server.calls).toHaveLength(1)
  })

  it('a call waits for it no longer than its own deadline', async () => {
    const { place, client, release, wrong } = await wrongCallUnderWay()
    const call = outcome(client.post('/charges', { ...RIGHT, deadline: '2s' }))
    await place.clock.advance(1999)
    expect(await isSettled(call, place.clock)).toBe(false)
    await place.clock.advance(1)
    const { error } = await call
    expect(error).toBeInstanceOf(IndeterminateError)
    expect(error).toMatchObject({ reason: 'deadline', effect: 'unknown', attempts: [] })
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
    expect(place.server.calls).toHaveLength(1)
  })

  it('a call leaves by its own signal', async () => {
    const { place, client, release, wrong } = await wrongCallUnderWay()
    const controller = new AbortController()
    const call = outcome(client.post('/charges', { ...RIGHT, signal: controller.signal }))
    await settle(place.clock)
    const reason = new Error('I have changed my mind')
    controller.abort(reason)
    expect(await call).toEqual({ error: reason })
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
  })

  it('a retry waits for it no longer than its own deadline, and knows nothing of what the id stands for', async () => {
    const { place, client, release, wrong } = await wrongCallUnderWay()
    const retried = outcome(client.retry('order:1', { deadline: '2s' }))
    await place.clock.advance(1999)
    expect(await isSettled(retried, place.clock)).toBe(false)
    await place.clock.advance(1)
    expect(await isSettled(retried, place.clock)).toBe(true)
    expect((await retried).error).toMatchObject({ reason: 'deadline', effect: 'unknown', pending: true })
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
  })

  it('a retry leaves by its own signal, and takes nobody along', async () => {
    const { place, client, release, wrong } = await wrongCallUnderWay()
    const controller = new AbortController()
    const retried = outcome(client.retry('order:1', { signal: controller.signal }))
    await settle(place.clock)
    const reason = new Error('I have changed my mind')
    controller.abort(reason)
    expect(await isSettled(retried, place.clock)).toBe(true)
    expect(await retried).toEqual({ error: reason })
    release()
    await settle(place.clock)
    expect((await wrong).error).toBeInstanceOf(KeyReuseError)
  })
})

describe('while the first call of an id is being written', () => {
  it('another call with that id keeps the key that it was given', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('list', 'before')
    const first = outcome(client.post('/charges', { ...WRONG, deadline: '1s' }))
    const second = client.post('/charges', { ...RIGHT, key: 'own' })
    expect(second.key).toBe('own')
    await place.clock.advance(2000)
    release()
    await settle(place.clock)
    expect((await first).error).toMatchObject({ reason: 'deadline' })
    expect(await second.json()).toEqual({ key: 'own' })
    expect(await client.post('/charges', { body: 'one', key: 'own' }).json()).toEqual({ key: 'own' })
    expect(place.server.calls).toHaveLength(1)
  })

  it('a call that uses the id for something else is refused once it is there', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'before')
    const first = outcome(client.post('/charges', RIGHT))
    await settle(place.clock)
    const second = outcome(client.post('/charges', WRONG))
    expect(await isSettled(second, place.clock)).toBe(false)
    release()
    await settle(place.clock)
    expect((await first).value?.status).toBe(201)
    expect((await second).error).toBeInstanceOf(KeyReuseError)
    expect(place.server.calls.map(({ text }) => text)).toEqual(['one'])
  })

  it('a call that uses the id for something else is done where the first could not be written', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    // The first call sweeps the journal as well; after it, an append is alone in its batch.
    await client.post('/charges', { body: 'warm' })
    await client.flush()
    const release = held.hold('append', 'refused')
    const first = outcome(client.post('/charges', RIGHT))
    await settle(place.clock)
    const second = outcome(client.post('/charges', WRONG))
    await settle(place.clock)
    release()
    await settle(place.clock)
    expect((await first).error).toMatchObject({ reason: 'storage', effect: 'none', pending: false })
    expect((await second).value?.status).toBe(201)
    expect(place.server.calls.map(({ text }) => text)).toEqual(['warm', 'another'])
  })

  it('a retry of the id joins it once it is there', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'before')
    const first = client.post('/charges', RIGHT)
    await settle(place.clock)
    const retried = outcome(client.retry('order:1'))
    release()
    await settle(place.clock)
    expect(await first.json()).toEqual({ key: first.key })
    expect(await (await retried).value?.json()).toEqual({ key: first.key })
    expect(place.server.calls).toHaveLength(1)
  })
})

describe('an operation that is taken back while another client waits for it', () => {
  it('is not mistaken for what is written under the same id after it', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    await client.post('/charges', { body: 'warm' })
    await client.flush()
    const release = held.hold('append', 'lost')
    const first = client.post('/charges', RIGHT)
    const told = outcome(first)
    await settle(place.clock)
    const waiting = outcome(place.client().post('/charges', RIGHT))
    const second = client.post('/charges', WRONG)
    await place.clock.advance(20)
    release()
    await place.clock.advance(2000)
    expect((await told).error).toMatchObject({ reason: 'storage', effect: 'none', pending: false })
    expect((await second).status).toBe(201)
    expect(second.key).not.toBe(first.key)
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_RECORD_GONE', effect: 'unknown' })
    expect(place.server.calls.map(({ text }) => text)).toEqual(['warm', 'another'])
  })

  it('is not mistaken for what is written under the same key after it', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, RIGHT)
    const waiting = outcome(place.client().post('/charges', RIGHT))
    await settle(place.clock)
    const [row] = await rowsOf(place.disk)
    if (!row) throw new Error('Nothing was left behind')
    const before = JSON.parse(row.head) as { method: string; url: string }
    const body = new TextEncoder().encode('something else')
    const head = JSON.stringify({ ...before, fingerprint: nodeDigest([before.method, before.url], body) })
    const { namespace, epoch, owner } = row
    await place.disk.execute([
      { do: 'write', namespace, key, epoch, owner: owner ?? '', change: 'remove' },
      { do: 'append', row: { ...row, head, body } },
    ])
    await place.clock.advance(2000)
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_RECORD_GONE', effect: 'unknown' })
  })
})

it('a reused id is told with what to do instead', async () => {
  const client = neighbourhood().client()
  await client.post('/charges', { body: 'card one', id: 'order:1:pay' })
  const { error } = await outcome(client.post('/charges', { body: 'card two', id: 'order:1:pay' }))
  expect(error?.message).toMatch(/"order:1:pay" was reused.*give it an id or key of its own/)
})
