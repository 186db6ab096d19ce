import { describe, expect, it } from 'vitest'
import { type Journal, NotSentError, StorageError } from '../../src/index.ts'
import { rowsOf, typesOf } from '../support/client-scenario.ts'
import { on } from '../support/fault-journal.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { LEASE_MS, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a journal that hangs while it writes a new operation', () => {
  for (const onGiveUp of ['fail', 'keep'] as const) {
    for (const at of ['before', 'after'] as const) {
      it(`holds nobody beyond the deadline, and nothing is sent later (onGiveUp ${onGiveUp}, hanging ${at} the write)`, async () => {
        const place = neighbourhood()
        const { client, held } = clientOnHeldDisk(place)
        const release = held.hold('append', at)
        const call = outcome(client.post('/charges', { body: 'one', deadline: '5s', onGiveUp }))
        await place.clock.advance(5000)
        const { error } = await call
        expect(error).toBeInstanceOf(NotSentError)
        expect(error).toMatchObject({ reason: 'deadline', effect: 'none', pending: false })
        release()
        await place.clock.advance(LEASE_MS * 2)
        expect(await place.client().resume()).toMatchObject({ claimed: 0 })
        expect(place.server.calls).toHaveLength(0)
      })
    }
  }

  it('leaves nothing to be sent where the client was closed in the meantime', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('append', 'before')
    const call = outcome(client.post('/charges', { body: 'one', deadline: '5s' }))
    await settle(place.clock)
    const closed = client.close()
    await place.clock.advance(5000)
    expect((await call).error).toMatchObject({ reason: 'deadline', effect: 'none', pending: false })
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
    expect(await listed(place.client())).toEqual([])
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
    expect(error).toMatchObject({ effect: 'none', pending: false, reason: 'storage' })
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
})
