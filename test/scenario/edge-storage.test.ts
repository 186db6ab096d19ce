import { describe, expect, it } from 'vitest'
import { type Journal, NotSentError, StorageError } from '../../src/index.ts'
import { rowsOf, typesOf } from '../support/client-scenario.ts'
import { on } from '../support/fault-journal.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { keptForLong, LEASE_MS, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a journal that hangs while it writes a new operation', () => {
  for (const at of ['before', 'after'] as const) {
    it(`holds nobody beyond the deadline, and takes back what comes through later (hanging ${at} the write)`, async () => {
      const place = neighbourhood()
      const { client, held } = clientOnHeldDisk(place)
      const release = held.hold('append', at)
      const call = outcome(client.post('/charges', { body: 'one', deadline: '5s' }))
      await place.clock.advance(5000)
      const { error } = await call
      expect(error).toBeInstanceOf(NotSentError)
      // While it hangs nobody can say that no resume will find it.
      expect(error).toMatchObject({ reason: 'deadline', effect: 'none', pending: true })
      release()
      await settle(place.clock)
      expect(await rowsOf(place.disk)).toEqual([])
      await place.clock.advance(LEASE_MS * 2)
      expect(await place.client().resume()).toMatchObject({ claimed: 0 })
      expect(place.server.calls).toHaveLength(0)
    })

    it(`leaves what comes through later to a resume with onGiveUp keep (hanging ${at} the write)`, async () => {
      const place = neighbourhood()
      const { client, held } = clientOnHeldDisk(place)
      const release = held.hold('append', at)
      const handle = client.post('/charges', { body: 'one', deadline: '5s', onGiveUp: 'keep' })
      const call = outcome(handle)
      await place.clock.advance(5000)
      expect((await call).error).toMatchObject({ reason: 'deadline', effect: 'none', pending: true })
      release()
      await settle(place.clock)
      // Whoever was told of the deadline is not surprised by an attempt of this client.
      expect(place.server.calls).toHaveLength(0)
      await place.clock.advance(LEASE_MS * 2)
      expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect([...place.server.effects]).toEqual([[handle.key, 1]])
    })
  }

  it('takes nothing back that a resume of another client has claimed: it is done once, under the same key', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'after')
    const handle = client.post('/charges', { body: 'one', deadline: '5s' })
    const call = outcome(handle)
    await place.clock.advance(LEASE_MS + 1)
    expect((await call).error).toMatchObject({ reason: 'deadline', effect: 'none', pending: true })
    place.server.weather = () => ({ status: 503, delay: 1000 })
    const resumed = place.client().resume()
    await settle(place.clock)
    release()
    await settle(place.clock)
    expect((await rowsOf(place.disk)).map((row) => row.key)).toEqual([handle.key])
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ claimed: 1, succeeded: 1 })
    expect([...place.server.effects]).toEqual([[handle.key, 1]])
    expect(new Set(place.server.calls.map(({ text }) => text))).toEqual(new Set(['one']))
  })

  it('does a call with the same id that comes while the late record is on its way, once', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'before')
    const first = outcome(client.post('/charges', { id: 'order:1', body: 'one', deadline: '5s' }))
    await place.clock.advance(5000)
    expect((await first).error).toMatchObject({ reason: 'deadline', effect: 'unknown', pending: true })
    const second = outcome(client.post('/charges', { id: 'order:1', body: 'one' }))
    await settle(place.clock)
    release()
    await place.clock.advance(1000)
    const { value, error } = await second
    expect(error).toBeUndefined()
    expect(value?.status).toBe(201)
    expect(totalEffects(place.server)).toBe(1)
  })

  it('leaves nothing to be sent where the client was closed in the meantime', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'before')
    const call = outcome(client.post('/charges', { body: 'one', deadline: '5s' }))
    await settle(place.clock)
    const closed = client.close()
    await place.clock.advance(5000)
    expect((await call).error).toMatchObject({ reason: 'deadline', effect: 'none', pending: true })
    release()
    await place.clock.advance(LEASE_MS * 2)
    await closed
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(place.server.calls).toHaveLength(0)
  })
})

describe('a batch that was committed although its answer was lost', () => {
  it('lets its calls go on as if nothing had happened', async () => {
    const place = neighbourhood()
    const sizes: number[] = []
    const journal: Journal = {
      ...place.disk,
      level: place.disk.level,
      execute: async (batch) => {
        const results = await place.disk.execute(batch)
        const appends = batch.filter((command) => command.do === 'append').length
        if (appends > 1 && sizes.push(appends) === 1) throw new Error('connection lost')
        return results
      },
    }
    const client = place.client({ journal })
    await client.operation('nobody')
    const calls = ['one', 'two'].map((body) => outcome(client.post('/charges', { body })))
    await settle(place.clock)
    expect(sizes).toEqual([2])
    expect((await Promise.all(calls)).map(({ value }) => value?.status)).toEqual([201, 201])
    expect(place.server.calls.map(({ text }) => text)).toEqual(['one', 'two'])
    await client.flush()
    expect(await keptForLong(place)).toEqual([])
  })
})

describe('a batch whose answer was lost, on a disk that is full from then on', () => {
  /** The first batch with several appends is written, and nobody can say so; after that nothing is. */
  function losesThenFills(disk: Journal): Journal {
    let full = false
    return {
      ...disk,
      level: disk.level,
      execute: async (batch) => {
        if (full) throw new StorageError('The disk is full')
        const results = await disk.execute(batch)
        full = batch.filter((command) => command.do === 'append').length > 1
        if (full) throw new StorageError('The connection was lost', { effect: 'unknown' })
        return results
      },
    }
  }

  it('tells every call that it may still be done, and a resume does each once', async () => {
    const place = neighbourhood()
    const client = place.client({ journal: losesThenFills(place.disk) })
    await client.operation('nobody')
    const bodies = ['one', 'two', 'three', 'four']
    const calls = await Promise.all(bodies.map((body) => outcome(client.post('/charges', { body }))))
    for (const { error } of calls) {
      expect(error).toBeInstanceOf(StorageError)
      expect(error).toMatchObject({ reason: 'storage', effect: 'unknown', pending: true })
    }
    expect(place.server.calls).toHaveLength(0)
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 4, succeeded: 4 })
    const keys = calls.map(({ error }) => error?.operation?.key)
    expect([...place.server.effects.keys()].sort()).toEqual(keys.sort())
    expect(totalEffects(place.server)).toBe(4)
  })
})

describe('an append that fails', () => {
  it('is told as an event and as a StorageError: nothing was done', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('append', 'fail')
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'none', pending: false, reason: 'storage' })
    expect(typesOf(client.events)).toEqual(['journal.failed'])
    expect(place.server.calls).toHaveLength(0)
  })

  it('says of an operation that an earlier call has left under its id that a resume may go on with it', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const order = { body: 'one', id: 'order:1' }
    await outcome(place.client({ onGiveUp: 'keep', retry: false }).post('/charges', order))
    const client = place.client()
    client.journal.fault = () => 'fail'
    const { error } = await outcome(client.post('/charges', order))
    expect(error).toMatchObject({ effect: 'unknown', pending: true, reason: 'storage' })
    place.server.weather = () => 'fine'
    await place.clock.advance(LEASE_MS)
    expect(await place.client().resume()).toMatchObject({ succeeded: 1 })
  })

  it('is told in the same way where the journal rejects with an error of its own', async () => {
    const place = neighbourhood()
    const cause = new Error('no space left')
    const journal: Journal = {
      level: 'memory',
      open: async () => {},
      close: async () => {},
      execute: () => Promise.reject(cause),
    }
    const client = place.client({ journal })
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toBeInstanceOf(StorageError)
    // Not an error of the port's kind: it does not say whether the batch was written.
    expect(error).toMatchObject({ effect: 'unknown', pending: true, reason: 'storage' })
    const failures = client.events.flatMap((event) => (event.type === 'journal.failed' ? [event] : []))
    // Housekeeping fails on the same disk; what counts is that the call's own failure is told.
    expect(failures).toContainEqual(expect.objectContaining({ key: error?.operation?.key }))
    expect(place.server.calls).toHaveLength(0)
  })

  it('does not take away the record that an earlier call with the same key left', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503 })
    client.journal.fault = on('commit', 'fail')
    const first = outcome(client.post('/charges', { key: 'mine', body: 'one' }))
    await settle(place.clock)
    expect((await first).error).toMatchObject({ reason: 'storage', pending: true, effect: 'unknown' })
    client.journal.fault = on('append', 'fail')
    const second = outcome(client.post('/charges', { key: 'mine', body: 'one' }))
    await settle(place.clock)
    expect((await second).error).toMatchObject({ reason: 'storage' })
    expect((await rowsOf(place.disk)).map((row) => row.key)).toEqual(['mine'])
    place.server.weather = () => 'fine'
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(place.server)).toBe(1)
  })

  it('is not told as certainly undone where another client has taken up what was written after all', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    // The first call sweeps the journal as well; after it, an append is alone in its batch.
    await client.post('/charges', { body: 'warm' })
    await client.flush()
    const release = held.hold('append', 'lost')
    const call = outcome(client.post('/charges', { body: 'one', deadline: '10m' }))
    await place.clock.advance(LEASE_MS + 1)
    place.server.weather = () => 'hang-before'
    const other = place.client()
    const resumed = other.resume()
    await settle(place.clock)
    expect(place.server.calls.map(({ text }) => text)).toEqual(['warm', 'one'])
    release()
    await settle(place.clock)
    expect((await call).error).toMatchObject({ reason: 'storage', pending: true })
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})
