import { describe, expect, it } from 'vitest'
import { partsOf } from '../../src/client/prepared-operation.ts'
import type { ClientOptions, HoldfastEvent } from '../../src/index.ts'
import { memoryJournal } from '../../src/index.ts'
import { elapse, failure, ORIGIN, rowsOf, scenario } from '../support/client-scenario.ts'
import { leaveBehind, neighbourhood, outcome } from '../support/shared-clients.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const announcing = (seconds: number | string) => ({ 'idempotency-retention': String(seconds) })

const shortened = (events: readonly HoldfastEvent[]) => events.filter(({ type }) => type === 'horizon.shortened')

async function horizonsOf(journal: Parameters<typeof rowsOf>[0]): Promise<number[]> {
  const rows = await rowsOf(journal)
  return rows.map(({ head }) => {
    const { horizonAt, acceptedAt } = JSON.parse(head) as { horizonAt: number; acceptedAt: number }
    return horizonAt - acceptedAt
  })
}

describe('a server that announces a shorter dedup window', () => {
  it('shortens the horizon of the operation that it answers, and that is written down', async () => {
    const { client, clock, journal, events } = scenario(() => ({ status: 503, headers: announcing(3600) }))
    const at = clock.now()
    const handle = client.post('/a', { id: 'order:1' })
    await elapse(clock, MINUTE, failure(handle))
    expect(await horizonsOf(journal)).toEqual([20 * MINUTE])
    const { key } = handle
    const said = { type: 'horizon.shortened', origin: ORIGIN, key, windowMs: HOUR, horizonAt: at + 20 * MINUTE }
    expect(shortened(events)).toEqual([{ ...said, at }])
  })

  it('is written down before the next attempt starts', async () => {
    const { client, clock, journal } = scenario([{ status: 503, headers: announcing(3600) }, { hang: true }])
    const answer = failure(client.post('/a'))
    await clock.advance(SECOND)
    expect(await horizonsOf(journal)).toEqual([20 * MINUTE])
    await elapse(clock, MINUTE, answer)
  })

  it('ends the retries in the middle of a call', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 503, headers: announcing(9) }), {
      retry: { jitter: 'none', base: 2000, maxAttempts: 9 },
    })
    const at = clock.now()
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error).toMatchObject({ reason: 'horizon', effect: 'unknown' })
    // The third would start after 6 s, behind the horizon of 3 s.
    expect(fetch.calls.map((call) => call.at - at)).toEqual([0, 2000])
    expect(fetch.calls[1]?.headers['request-timeout-ms']).toBe('1000')
  })

  it('is heeded after a restart, by one that has never heard it', async () => {
    const journal = memoryJournal()
    const first = scenario(() => ({ status: 503, headers: announcing(3600) }), { journal, onGiveUp: 'keep' })
    await elapse(first.clock, MINUTE, failure(first.client.post('/a', { id: 'early' })))
    await elapse(first.clock, 10 * MINUTE, failure(first.client.post('/a', { id: 'late' })))
    await first.client.close()
    await first.clock.advance(9 * MINUTE)
    const { clock } = first
    const second = scenario(() => ({ status: 200 }), { journal, clock })
    expect(await second.client.resume()).toMatchObject({ claimed: 2, expired: 1, succeeded: 1 })
    expect(second.fetch.calls).toHaveLength(1)
    expect((await second.client.operation('early'))?.status).toBe('expired')
  })

  it('counts for what is accepted later, for that origin only', async () => {
    const journal = memoryJournal()
    const steps = [{ status: 200, headers: announcing(3600) }, { hang: true }, { hang: true }] as const
    const { client, clock } = scenario(steps, { journal, trustedOrigins: ['https://other.test'] })
    await client.post('/a', { durable: false, key: 'k' })
    const [here, there] = [failure(client.post('/b')), failure(client.post('https://other.test/c'))]
    await clock.advance(1)
    expect(await horizonsOf(journal)).toEqual([20 * MINUTE, 8 * HOUR])
    await elapse(clock, MINUTE, Promise.all([here, there]))
  })

  it('counts for what is prepared later, too', async () => {
    const { client } = scenario([{ status: 200, headers: announcing(3600) }])
    await client.post('/a')
    const { record } = partsOf(await client.prepare('POST', '/b', { body: 'x' }))
    expect(record.horizonAt - record.acceptedAt).toBe(20 * MINUTE)
  })

  it('counts for what may have arrived before, once it is taken up', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(HOUR)
    const client = place.client()
    place.server.weather = () => ({ status: 404, headers: announcing(3600) })
    await outcome(client.post('/b', { body: 'two' }))
    const before = place.server.calls.length
    expect(await client.resume()).toMatchObject({ claimed: 1, expired: 1 })
    expect(place.server.calls).toHaveLength(before)
    expect((await client.operation(key))?.status).toBe('expired')
  })

  it('does not keep back what cannot have arrived before', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const client = place.client({ onGiveUp: 'keep', retry: false })
    await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    await place.clock.advance(HOUR)
    place.server.weather = () => ({ status: 404, headers: announcing(3600) })
    await outcome(client.post('/b', { body: 'two' }))
    place.server.weather = () => 'fine'
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('is told once, and again when it changes', async () => {
    const windows = [3600, 3600, 1800, 1800, 86_400, 3600]
    const { client, events } = scenario(windows.map((seconds) => ({ status: 200, headers: announcing(seconds) })))
    for (const _window of windows) await client.post('/a')
    expect(shortened(events)).toMatchObject([{ windowMs: HOUR }, { windowMs: HOUR / 2 }, { windowMs: HOUR }])
  })

  it('never makes a horizon longer: neither one that was shortened, nor one that was chosen', async () => {
    const journal = memoryJournal()
    const steps = [
      { status: 503, headers: announcing(3600) },
      { status: 503, headers: announcing(7200) },
      { status: 503, headers: announcing(864_000) },
      { hang: true },
    ] as const
    const { client, clock } = scenario(steps, { journal })
    const answer = failure(client.post('/a'))
    await clock.advance(10 * SECOND)
    expect(await horizonsOf(journal)).toEqual([20 * MINUTE])
    await elapse(clock, MINUTE, answer)
  })

  it.each<{ what: string; seconds: number; options: ClientOptions; own: number }>([
    { what: 'the window that was believed', seconds: 86_400, options: {}, own: 8 * HOUR },
    { what: 'a window that our horizon fits into', seconds: 3600, options: { horizon: '10m' }, own: 10 * MINUTE },
    { what: 'a longer window', seconds: 7200, options: { dedupWindow: '1h' }, own: 20 * MINUTE },
  ])('changes nothing by announcing $what', async ({ seconds, options, own }) => {
    const { client, clock, journal, events } = scenario(() => ({ status: 503, headers: announcing(seconds) }), options)
    await elapse(clock, MINUTE, failure(client.post('/a', { id: 'order:1' })))
    expect(await horizonsOf(journal)).toEqual([own])
    expect(shortened(events)).toEqual([])
  })

  it.each(['0', '-1', '1.5', 'soon', '', '1h', '60, 60'])('changes nothing by announcing %j', async (value) => {
    const { client, clock, journal, events } = scenario(() => ({ status: 503, headers: announcing(value) }))
    await elapse(clock, MINUTE, failure(client.post('/a', { id: 'order:1' })))
    expect(await horizonsOf(journal)).toEqual([8 * HOUR])
    expect(shortened(events)).toEqual([])
  })

  it('does not bound a call without a key', async () => {
    const { client, clock, fetch, events } = scenario(() => ({ status: 503, headers: announcing(1) }))
    await elapse(clock, MINUTE, failure(client.get('/a')))
    expect(fetch.calls).toHaveLength(5)
    expect(shortened(events)).toEqual([])
  })

  it('bounds how long it is waited for, where the server asked for more', async () => {
    const { client, clock, journal } = scenario(
      () => ({ status: 503, headers: { ...announcing(3600), 'retry-after': '7200' } }),
      { onGiveUp: 'keep', deadline: '5h' },
    )
    await elapse(clock, 0, failure(client.post('/a', { id: 'order:1' })))
    const [row] = await rowsOf(journal)
    expect(row?.notBefore).toBe(clock.now() + 20 * MINUTE)
    expect(row?.dueAt).toBe(clock.now() + 20 * MINUTE)
  })
})
