import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createClient, type FetchLike, memoryJournal } from '../../src/index.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'
import { elapse, ORIGIN, rejection, rowsOf, scenario, turn } from '../support/client-scenario.ts'

describe('a signal', () => {
  it('aborted before the call: nothing is written or sent, and its own reason comes back', async () => {
    const reason = new Error('mine')
    for (const verb of ['post', 'get'] as const) {
      const { client, fetch, journal } = scenario([])
      expect(await rejection(client[verb]('/a', { signal: AbortSignal.abort(reason) }))).toBe(reason)
      expect(fetch.calls).toHaveLength(0)
      expect(await rowsOf(journal)).toEqual([])
    }
  })

  it('keeps its own reason, whatever it is', async () => {
    for (const reason of ['text', 0, null, { a: 1 }, new DOMException('x', 'TimeoutError')]) {
      const { client, clock } = scenario(() => ({ hang: true }))
      const controller = new AbortController()
      const failed = rejection(client.post('/a', { signal: controller.signal }))
      await clock.advance(5)
      controller.abort(reason)
      expect(await elapse(clock, 50, failed)).toBe(controller.signal.reason)
    }
  })

  it('during an attempt cancels the attempt, settles as cancelled, and starts no other', async () => {
    const { client, clock, fetch, journal, events } = scenario(() => ({ hang: true }))
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { signal: controller.signal, id: 'x' }))
    await clock.advance(5)
    controller.abort()
    expect(await failed).toMatchObject({ name: 'AbortError' })
    await clock.advance(60_000)
    expect(fetch.calls).toHaveLength(1)
    expect(await rowsOf(journal)).toMatchObject([{ status: 'cancelled', owner: null }])
    expect(events.at(-1)).toMatchObject({
      type: 'operation.settled',
      status: 'cancelled',
      reason: 'aborted',
      effect: 'unknown',
    })
    expect(clock.pending()).toBe(0)
  })

  it('during a wait ends it: no further request, no timer', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 503, headers: { 'retry-after': '5' } }))
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { signal: controller.signal }))
    await clock.advance(10)
    controller.abort('enough')
    expect(await failed).toBe('enough')
    await clock.advance(60_000)
    expect(fetch.calls).toHaveLength(1)
    expect(clock.pending()).toBe(0)
  })

  it('10 ms into a wait of 5 s rejects within 50 ms of real time', async () => {
    const fetch = scriptedFetch(() => ({ status: 503, headers: { 'retry-after': '5' } }))
    const client = createClient({ baseUrl: ORIGIN, fetch, journal: memoryJournal() })
    const controller = new AbortController()
    let abortedAt = 0
    setTimeout(() => {
      abortedAt = performance.now()
      controller.abort('enough')
    }, 10)
    expect(await rejection(client.post('/a', { signal: controller.signal }))).toBe('enough')
    expect(performance.now() - abortedAt).toBeLessThan(50)
    expect(fetch.calls).toHaveLength(1)
  })

  it('rejects within 50 ms of real time also where fetch and journal hang', async () => {
    const journal = memoryJournal()
    let stuck = false
    const hanging = {
      ...journal,
      level: journal.level,
      execute: (commands: Parameters<typeof journal.execute>[0]) =>
        stuck ? new Promise<never>(() => {}) : journal.execute(commands),
    }
    const fetch: FetchLike = () => {
      stuck = true
      return new Promise(() => {})
    }
    const client = createClient({ baseUrl: ORIGIN, fetch, journal: hanging })
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { signal: controller.signal }))
    await turn()
    const abortedAt = performance.now()
    controller.abort('enough')
    expect(await failed).toBe('enough')
    expect(performance.now() - abortedAt).toBeLessThan(50)
  })

  it('of a timeout makes exactly one attempt', async () => {
    const fetch = scriptedFetch(() => ({ hang: true }))
    const client = createClient({ baseUrl: ORIGIN, fetch, journal: memoryJournal() })
    const error = await rejection(client.post('/a', { signal: AbortSignal.timeout(200) }))
    expect(error).toMatchObject({ name: 'TimeoutError' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('that aborts after the answer changes nothing', async () => {
    const { client } = scenario([{ body: 'x' }])
    const controller = new AbortController()
    const handle = client.post('/a', { signal: controller.signal })
    await handle
    controller.abort()
    expect(await handle.text()).toBe('x')
  })

  it('ends the reading of a large answer, as fetch has it', async () => {
    const { client, clock } = scenario([{ body: 'x'.repeat(100), stallBody: true }], { maxResponseBytes: 10 })
    const controller = new AbortController()
    const response = await client.post('/a', { signal: controller.signal })
    const read = rejection(response.text())
    await clock.advance(0)
    controller.abort(new Error('enough'))
    expect(await read).toMatchObject({ message: 'enough' })
    expect(clock.pending()).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('shared by ten thousand calls has no listener left, and nobody is warned', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    const { signal } = new AbortController()
    const fetch: FetchLike = async () => new Response('x')
    const client = createClient({ baseUrl: ORIGIN, fetch, journal: memoryJournal() })
    for (let round = 0; round < 100; round++) {
      const calls = Array.from({ length: 50 }, (_, n) => [
        client.get('/a', { signal }),
        client.post('/a', { json: n, signal }),
      ])
      await Promise.all(calls.flat())
    }
    await turn()
    process.off('warning', note)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(warnings).toEqual([])
  }, 60_000)

  it('has no listener left after failures, refusals and answers that were too large', async () => {
    const { signal } = new AbortController()
    const { client, clock } = scenario(
      [{ status: 400 }, { fault: 'reset' }, { status: 200 }, { body: 'x'.repeat(50) }, { status: 200 }],
      { maxResponseBytes: 10, maxBodyBytes: 10 },
    )
    await client.post('/a', { signal }).catch(() => {})
    await elapse(clock, 60_000, client.post('/a', { signal }))
    await client.post('/a', { signal }).text()
    await client.post('/a', { signal, body: new Blob(['x'.repeat(20)]) }).catch(() => {})
    await client.post('/a', { signal, body: new Blob(['x']) })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(clock.pending()).toBe(0)
  })
})
