import { describe, expect, it } from 'vitest'
import { KeyReuseError, StorageError } from '../../src/index.ts'
import { isCommit, kindOf } from '../../src/testing/command-meaning.ts'
import { rowsOf } from '../support/client-scenario.ts'
import { on } from '../support/fault-journal.ts'
import { isSettled, LEASE_MS, leaveBehind, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('before the first byte', () => {
  it('waits for the record to be durable', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('append', 'hang')
    const handle = client.post('/charges', { body: 'one' })
    expect(await isSettled(handle.accepted, place.clock)).toBe(false)
    expect(place.server.calls).toHaveLength(0)
  })

  it('tells of acceptance only after the record is durable, also to one who joins', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('append', 'hang')
    client.post('/charges', { body: 'one', id: 'order:1' }).catch(() => {})
    await settle(place.clock)
    const second = client.post('/charges', { body: 'one', id: 'order:1' })
    expect(await isSettled(second.accepted, place.clock)).toBe(false)
  })

  it('sends nothing where the record could not be written, and says that nothing was done', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('append', 'fail')
    const handle = client.post('/charges', { body: 'one' })
    const { error } = await outcome(handle)
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'none', pending: false, reason: 'storage' })
    await expect(handle.accepted).rejects.toBeInstanceOf(StorageError)
    await place.clock.advance(60_000)
    expect(place.server.calls).toHaveLength(0)
    client.journal.fault = undefined
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
  })

  it('takes back a record whose writing was reported as failed but was not', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('append', 'fail-late')
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ effect: 'none', pending: false })
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(totalEffects(place.server)).toBe(0)
  })

  it('writes the record, with its first attempt on it, in one command and its end in one', async () => {
    const place = neighbourhood()
    const client = place.client()
    const order: string[] = []
    client.journal.fault = (command) => {
      order.push(kindOf(command))
      return undefined
    }
    place.server.weather = () => {
      order.push('wire')
      return 'fine'
    }
    await client.post('/charges', { body: 'one' })
    await client.flush()
    const writes = order.filter((step) => step !== 'prune' && step !== 'list')
    expect(writes).toEqual(['append', 'wire', 'commit'])
  })

  it('has every further attempt on record before it is sent', async () => {
    const place = neighbourhood()
    const client = place.client()
    const order: string[] = []
    client.journal.fault = (command) => {
      if (isCommit(command)) order.push(JSON.parse(command.change.head).inFlightSince ? 'started' : 'ended')
      return undefined
    }
    place.server.weather = (_, n) => {
      order.push('wire')
      return n < 3 ? { status: 503 } : 'fine'
    }
    const answer = client.post('/charges', { body: 'one' })
    await place.clock.advance(5000)
    expect((await answer).status).toBe(201)
    await client.flush()
    expect(order).toEqual(['wire', 'ended', 'started', 'wire', 'ended', 'started', 'wire', 'ended'])
  })

  it('carries the same key and the same bytes in every attempt of every client', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { body: 'äöü\u0000🙂' })
    place.server.weather = (_, n) => (n < 4 ? 'answer-lost' : 'fine')
    await place.clock.advance(LEASE_MS + 1)
    const resumed = place.client().resume()
    await place.clock.advance(20_000)
    expect(await resumed).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.server.calls.length).toBeGreaterThanOrEqual(4)
    expect(new Set(place.server.calls.map((call) => call.headers['idempotency-key']))).toEqual(new Set([key]))
    expect(new Set(place.server.calls.map((call) => call.text))).toEqual(new Set(['äöü\u0000🙂']))
    expect(totalEffects(place.server)).toBe(1)
  })

  it('keeps the lease that it was born with when the writing took longer than a lease', async () => {
    const place = neighbourhood()
    const slow = place.client({ deadline: '10m' })
    let write = (): void => {}
    const gate = new Promise<void>((resolve) => {
      write = resolve
    })
    const execute = slow.journal.execute
    slow.journal.execute = async (batch) => {
      const results = await execute(batch)
      if (batch.some((command) => command.do === 'append')) await gate
      return results
    }
    const answer = outcome(slow.post('/charges', { body: 'one', id: 'order:1' }))
    await place.clock.advance(LEASE_MS + 1)
    const other = place.client()
    place.server.weather = () => 'hang-before'
    const resumed = other.resume()
    await settle(place.clock)
    expect(place.server.calls).toHaveLength(1)
    write()
    await settle(place.clock)
    expect(place.server.calls).toHaveLength(1)
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ succeeded: 1 })
    expect((await answer).value?.status).toBe(201)
    expect(await listed(other)).toHaveLength(1)
  })
})

describe('a key whose lease this client has kept from an earlier call', () => {
  /** The second epoch of the operation 'mine' is ours and nobody works under it; so is the next birth's number. */
  async function leaseLeftBehind() {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    await outcome(client.post('/charges', { key: 'mine', body: 'one' }))
    client.journal.fault = (command) =>
      isCommit(command) && JSON.parse(command.change.head).inFlightSince === undefined ? 'fail' : undefined
    expect((await outcome(client.retry('mine'))).error).toMatchObject({ reason: 'storage', pending: true })
    client.journal.fault = undefined
    expect(await rowsOf(place.disk)).toMatchObject([{ key: 'mine', epoch: 2, owner: expect.any(String) }])
    place.server.weather = () => 'fine'
    return { place, client }
  }

  it('never carries the bytes of a later call', async () => {
    const { place, client } = await leaseLeftBehind()
    const { error } = await outcome(client.post('/charges', { key: 'mine', body: 'another' }))
    expect(error).toBeInstanceOf(KeyReuseError)
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.server.calls.map(({ text }) => text)).toEqual(['one', 'one', 'one'])
  })

  it('keeps its record where a later call could not be written', async () => {
    const { place, client } = await leaseLeftBehind()
    client.journal.fault = on('append', 'fail')
    const { error } = await outcome(client.post('/charges', { key: 'mine', body: 'one' }))
    expect(error).toMatchObject({ reason: 'storage', effect: 'unknown', pending: true })
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})
