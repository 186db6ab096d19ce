import { describe, expect, it } from 'vitest'
import { memoryJournal, StorageError } from '../../src/index.ts'
import { isCommit } from '../../src/testing/command-meaning.ts'
import { on } from '../support/fault-journal.ts'
import { LEASE_MS, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a journal of the caller’s own', () => {
  it('that throws where it should reject is a journal that failed', async () => {
    const journal = memoryJournal()
    journal.open = () => {
      throw new Error('broken')
    }
    const { error } = await outcome(neighbourhood(journal).client().post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ name: 'StorageError', effect: 'none', cause: { message: 'broken' } })
  })
})

describe('a disk that fails', () => {
  it('before a retry: the caller is told what is known, and a resume goes on', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => 'answer-lost'
    client.journal.fault = on('commit', 'fail')
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    const { error } = await call
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'unknown', pending: true, reason: 'storage' })
    place.server.weather = () => 'fine'
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(place.server)).toBe(1)
  })

  it('at a success: the caller has its answer, and a resume finds the same', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('commit', 'fail')
    const response = await client.post('/charges', { body: 'one', id: 'order:1' })
    expect(response.status).toBe(201)
    expect(client.events.map((event) => event.type)).toContain('journal.failed')
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(place.server)).toBe(1)
  })

  it('at recording a success: the caller has its answer, and nothing is done twice', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = on('commit', 'fail')
    expect((await client.post('/charges', { body: 'one' })).status).toBe(201)
    await client.flush()
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(place.server)).toBe(1)
    // Its runner still lives and may wait for the answer: the settlement is kept for it.
    expect(await listed(place.client())).toEqual([expect.stringContaining('succeeded')])
  })

  it('at a refusal: the caller is told that it is pending, and a resume settles it', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 400 })
    client.journal.fault = on('commit', 'fail')
    const { error } = await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ pending: true, effect: 'none' })
    await place.clock.advance(LEASE_MS + 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, rejected: 1 })
  })

  it('at a refusal in a resume: it is reported as pending, not as rejected', async () => {
    const place = neighbourhood()
    const first = place.client({ onGiveUp: 'keep', retry: false })
    place.server.weather = () => ({ status: 503 })
    await outcome(first.post('/charges', { body: 'one' }))
    place.server.weather = () => ({ status: 400 })
    const client = place.client()
    client.journal.fault = on('commit', 'fail')
    expect(await client.resume()).toMatchObject({ claimed: 1, rejected: 0, pending: 1 })
    expect(await listed(place.client())).toEqual([expect.stringContaining('pending')])
  })

  it('while a lease is renewed: the run goes on as long as the lease may hold, and then stops', async () => {
    const place = neighbourhood()
    const client = place.client({ deadline: '10m', attemptTimeout: '5m' })
    place.server.weather = () => 'hang-before'
    const call = outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    await settle(place.clock)
    client.journal.fault = on('renew', 'fail')
    await place.clock.advance(LEASE_MS - 1)
    expect(client.events.map((event) => event.type)).not.toContain('lease.lost')
    await place.clock.advance(10_001)
    expect(client.events.map((event) => event.type)).toContain('lease.lost')
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect((await call).value?.status).toBe(201)
    expect(totalEffects(place.server)).toBe(1)
  })

  it('while somebody waits for another client: the error does not say that it is safe to begin anew', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const runner = place.client()
    runner.post('/charges', { body: 'one', id: 'order:1' }).catch(() => {})
    await settle(place.clock)
    const waiting = place.client()
    const call = outcome(waiting.post('/charges', { body: 'one', id: 'order:1' }))
    await settle(place.clock)
    waiting.journal.fault = on('read', 'fail')
    await place.clock.advance(1000)
    const { error } = await call
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'unknown', pending: true })
  })

  it('while an operation is claimed by key: nothing is lost', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ retry: false })
    const handle = client.post('/charges', { body: 'one' })
    await outcome(handle)
    client.journal.fault = on('claim-by-key', 'fail', 1)
    const { error } = await outcome(client.retry(handle.key))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'unknown' })
    place.server.weather = () => 'fine'
    expect((await client.retry(handle.key)).status).toBe(201)
  })

  it('while a resume claims: the resume rejects, and the next one finds everything', async () => {
    const place = neighbourhood()
    const first = place.client({ onGiveUp: 'keep', retry: false })
    place.server.weather = () => ({ status: 503 })
    for (const body of ['one', 'two', 'three']) await outcome(first.post('/charges', { body }))
    place.server.weather = () => 'fine'
    const client = place.client()
    client.journal.fault = on('claim', 'fail', 1)
    await expect(client.resume()).rejects.toBeInstanceOf(StorageError)
    expect(await client.resume()).toMatchObject({ claimed: 3, succeeded: 3 })
    expect(totalEffects(place.server)).toBe(3)
  })

  it('once, in a batch: only the command at fault fails', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = (command) => (command.do === 'append' && command.row.id === 'bad' ? 'fail' : undefined)
    const calls = ['good:1', 'bad', 'good:2'].map((id) => outcome(client.post('/charges', { body: id, id })))
    const [one, bad, two] = await Promise.all(calls)
    expect(one?.value?.status).toBe(201)
    expect(two?.value?.status).toBe(201)
    expect(bad?.error).toMatchObject({ effect: 'none', reason: 'storage' })
    expect(totalEffects(place.server)).toBe(2)
  })
})
