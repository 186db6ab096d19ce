import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/index.ts'
import {
  isSettled,
  keptForLong,
  LEASE_MS,
  leaveBehind,
  neighbourhood,
  outcome,
  settle,
} from '../support/shared-clients.ts'

async function found(client: Client, keyOrId: string): Promise<NonNullable<Awaited<ReturnType<Client['operation']>>>> {
  const operation = await client.operation(keyOrId)
  if (!operation) throw new Error(`${keyOrId} was not found`)
  return operation
}

describe('an operation that is found again', () => {
  it('is nothing where nobody knows it', async () => {
    expect(await neighbourhood().client().operation('nobody')).toBeUndefined()
  })

  it('is a plain object, by key and by id, and waiting for it does not wait for the operation', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1', name: 'charge' })
    const client = place.client()
    for (const name of [key, 'order:1']) {
      const operation = await found(client, name)
      expect(operation).toMatchObject({ key, id: 'order:1', name: 'charge', status: 'pending', attempts: 1 })
      expect(operation.acceptedAt).toBe(place.clock.now())
      expect('then' in operation).toBe(false)
      expect(operation.result.key).toBe(key)
      expect(operation.result.id).toBe('order:1')
    }
  })

  it('waits only once somebody asks', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    const client = place.client()
    const { result } = await found(client, key)
    await place.clock.advance(1000)
    const before = client.journal.commands.length
    await place.clock.advance(10_000)
    expect(client.journal.commands).toHaveLength(before)
    const waiting = outcome(result)
    await place.clock.advance(1000)
    expect(client.journal.commands.length).toBeGreaterThan(before)
    await client.close()
    expect((await waiting).error).toMatchObject({ pending: true })
  })

  it('resolves when another client settles it', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    const { result } = await found(place.client(), 'order:1')
    const json = outcome(result.json())
    await place.clock.advance(LEASE_MS)
    expect(await isSettled(json, place.clock)).toBe(false)
    await place.client().resume()
    await place.clock.advance(2000)
    expect((await json).value).toEqual({ key })
    expect(await (await result).json()).toEqual({ key })
  })

  it('resolves when a resume of the same client settles it, also where nothing of it is kept', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one', onGiveUp: 'keep', retry: false })
    await outcome(handle)
    const { result } = await found(client, handle.key)
    const json = outcome(result.json())
    await place.clock.advance(100)
    place.server.weather = () => 'fine'
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    await place.clock.advance(2000)
    expect((await json).value).toEqual({ key: handle.key })
  })

  it('joins what this client is running', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 1000 })
    const client = place.client()
    const handle = client.post('/charges', { body: 'one' })
    await settle(place.clock)
    const { result, status } = await found(client, handle.key)
    expect(status).toBe('pending')
    const json = result.json()
    await place.clock.advance(1000)
    expect(await json).toBe('done')
    expect(await handle.json()).toBe('done')
  })

  it('has the recorded answer, or the recorded error, of what has settled', async () => {
    const place = neighbourhood()
    const first = place.client({ retry: false })
    await first.post('/charges', { body: 'one', id: 'good' })
    place.server.weather = () => 'answer-lost'
    await outcome(first.post('/charges', { body: 'one', id: 'lost' }))
    const client = place.client()
    const good = await found(client, 'good')
    expect(good.status).toBe('succeeded')
    expect((await good.result).status).toBe(201)
    const lost = await found(client, 'lost')
    expect(lost).toMatchObject({ status: 'failed', attempts: 1, reason: 'attempts' })
    expect((await outcome(lost.result)).error).toMatchObject({
      name: 'IndeterminateError',
      effect: 'unknown',
      pending: false,
    })
  })

  it('gives its result although it is first asked for after the operation succeeded here, and its record is gone', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 1000 })
    const client = place.client()
    const handle = client.post('/charges', { body: 'one' })
    await settle(place.clock)
    const early = await found(client, handle.key)
    const late = await found(client, handle.key)
    await place.clock.advance(1000)
    await handle
    await client.flush()
    expect(await early.result.json()).toBe('done')
    expect(await keptForLong(place)).toEqual([])
    expect(await late.result.json()).toBe('done')
  })

  it('gives its result for a minute after it was done elsewhere', async () => {
    const place = neighbourhood()
    const handle = place.client().post('/charges', { body: 'one' })
    await handle
    await settle(place.clock)
    const { result } = await found(place.client(), handle.key)
    expect(await result.json()).toEqual({ key: handle.key })
  })

  it('tells the truth of an attempt that its runner died in', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    const before = { status: 'pending', attempts: 1, inFlight: true, effect: 'unknown', nextAttemptAt: undefined }
    expect(await found(place.client(), key)).toMatchObject({ ...before, horizonAt: place.clock.now() + 28_800_000 })
    const client = place.client()
    expect(await client.cancel(key)).toBe(true)
    expect(await found(client, key)).toMatchObject({ status: 'cancelled', reason: 'aborted', effect: 'unknown' })
  })

  it('can be cancelled', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    const client = place.client()
    const { result } = await found(client, key)
    const waiting = outcome(result)
    await result.cancel()
    await place.clock.advance(2000)
    expect((await waiting).error).toMatchObject({ reason: 'aborted' })
    expect((await found(client, key)).status).toBe('cancelled')
  })

  it('raises no unhandled rejection where nobody asks for its result', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): number => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one', id: 'order:1' })
    await outcome(handle)
    await found(client, 'order:1')
    await settle(place.clock)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
