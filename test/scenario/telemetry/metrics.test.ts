import { describe, expect, it, vi } from 'vitest'
import { memoryJournal } from '../../../src/index.ts'
import { elapse, failure, scenario } from '../../support/client-scenario.ts'
import { telemetryScene, withGlobalContext } from '../../support/telemetry-scene.ts'

withGlobalContext()

const SERVER = { 'server.address': 'api.test', 'server.port': 443 }
const POST = { 'http.request.method': 'POST', ...SERVER }

function isList(command: unknown): boolean {
  return typeof command === 'object' && command !== null && 'do' in command && command.do === 'list'
}

describe('the metrics of a client', () => {
  it('count operations, attempts and retries that were refused', async () => {
    const { telemetry, metric } = telemetryScene({ attributes: { 'app.client': 'payments' } })
    const steps = [{ status: 503 }, { status: 201 }, { status: 500, headers: { 'do-not-retry': 'true' } }]
    const { client, clock } = scenario(steps, { telemetry })
    await elapse(clock, 60_000, client.post('/charges/1', { json: 1 }))
    await failure(client.post('/charges/2', { json: 2 }))
    const own = { ...POST, 'app.client': 'payments' }
    const status = (code: number): object => ({ ...own, 'http.response.status_code': code })
    expect(await metric('holdfast.client.operations')).toEqual([
      { attributes: { ...own, 'holdfast.status': 'succeeded', 'holdfast.replayed': false }, value: 1 },
      {
        attributes: {
          ...own,
          'holdfast.status': 'rejected',
          'holdfast.replayed': false,
          'holdfast.reason': 'do-not-retry',
        },
        value: 1,
      },
    ])
    expect(await metric('holdfast.client.attempts')).toEqual([
      { attributes: { ...status(503), 'error.type': '503' }, value: 1 },
      { attributes: status(201), value: 1 },
      { attributes: { ...status(500), 'error.type': '500' }, value: 1 },
    ])
    expect(await metric('holdfast.client.attempt.duration')).toMatchObject([
      { value: { count: 1 } },
      { value: { count: 1 } },
      { value: { count: 1 } },
    ])
    expect(await metric('holdfast.client.retries.refused')).toEqual([
      { attributes: { ...own, 'holdfast.reason': 'do-not-retry' }, value: 1 },
    ])
  })

  it('count the retries that a kept operation was refused, and not the waits between attempts', async () => {
    const { telemetry, metric } = telemetryScene()
    const { client, clock } = scenario([{ status: 503, repeat: true }], {
      telemetry,
      budget: { burst: 1, ratio: 0, reservePerSecond: 0 },
    })
    await elapse(clock, 60_000, failure(client.post('/charges', { json: 1, onGiveUp: 'keep' })))
    expect(await metric('holdfast.client.retries.refused')).toEqual([
      { attributes: { ...POST, 'holdfast.reason': 'budget' }, value: 1 },
    ])
    expect(await metric('holdfast.client.budget.level')).toMatchObject([{ attributes: SERVER, value: 0 }])
  })

  it('count no retry where none could have been made, and none of a handler', async () => {
    const { telemetry, metric } = telemetryScene()
    const observe = telemetry.observer(undefined)
    const of = { at: 0, operation: { key: 'a-key' }, method: 'POST', url: 'https://api.test/a' } as const
    const nothing = { effect: 'none', attempts: 0, replayed: false, mayHaveRepeated: false } as const
    observe({ ...of, ...nothing, type: 'operation.settled', status: 'failed', reason: 'breaker' })
    observe({ ...of, type: 'operation.waiting', until: 0, reason: 'attempts', error: new Error('of the handler') })
    expect(await metric('holdfast.client.retries.refused')).toEqual([])
    expect(await metric('holdfast.client.operations')).toHaveLength(1)
  })

  it('show what is pending, and for how long, until the client closes', async () => {
    const { telemetry, metric } = telemetryScene({ pendingLimit: 2 })
    const journal = memoryJournal()
    const execute = vi.spyOn(journal, 'execute')
    const reads = (): number => execute.mock.calls.flat(2).filter((command) => isList(command)).length
    const options = { telemetry, journal, retry: false, breaker: false } as const
    const { client, clock } = scenario([{ status: 500, repeat: true }], options)
    expect(await metric('holdfast.client.pending')).toEqual([])
    for (const json of [1, 2, 3]) {
      await failure(client.post('/charges', { json, onGiveUp: 'keep' }))
      await clock.advance(1000)
    }
    expect(await metric('holdfast.client.pending')).toEqual([{ attributes: {}, value: 2 }])
    const [oldest] = await metric('holdfast.client.pending.oldest_age')
    expect(oldest?.value).toBeGreaterThan(0)
    await client.close()
    const before = reads()
    await metric('holdfast.client.pending')
    expect(before).toBeGreaterThan(0)
    expect(reads()).toBe(before)
  })

  it('do not open a journal that was not used', async () => {
    const { telemetry, metricNames } = telemetryScene()
    let opened = 0
    const journal = memoryJournal()
    const counting = { ...journal, open: async () => void opened++ }
    const { client } = scenario([{ status: 200 }], { telemetry, journal: counting })
    await client.get('/charges')
    expect(await metricNames()).toContain('holdfast.client.budget.level')
    expect(opened).toBe(0)
  })

  it('show what waits for each origin, for how long, and what is in flight', async () => {
    const { telemetry, metric } = telemetryScene()
    const { client, clock } = scenario([{ status: 200, delay: 3000, repeat: true }], {
      telemetry,
      limits: { concurrency: 1 },
      budget: {},
    })
    const calls = [client.get('/a'), client.get('/b')]
    await clock.advance(1000)
    calls.push(client.get('/c'), client.get('https://other.test/d'))
    await clock.advance(500)
    const other = { 'server.address': 'other.test', 'server.port': 443 }
    const both = (own: number, others: number): object[] => [
      { attributes: SERVER, value: own },
      { attributes: other, value: others },
    ]
    expect(await metric('holdfast.client.waiting')).toEqual(both(2, 0))
    expect(await metric('holdfast.client.waiting.oldest_age')).toEqual(both(1.5, 0))
    expect(await metric('holdfast.client.in_flight')).toEqual(both(1, 1))
    expect(await metric('holdfast.client.budget.level')).toEqual(both(2, 2))
    await elapse(clock, 20_000, Promise.all(calls))
    expect(await metric('holdfast.client.waiting')).toEqual(both(0, 0))
    expect(await metric('holdfast.client.waiting.oldest_age')).toEqual(both(0, 0))
    expect(await metric('holdfast.client.in_flight')).toEqual(both(0, 0))
    await client.close()
  })

  it('do not grow with each origin that was ever called', async () => {
    const { telemetry, metric } = telemetryScene()
    const { client } = scenario([{ status: 200, repeat: true }], { telemetry })
    for (let n = 0; n < 1100; n++) await client.get(`https://n${n}.test/`)
    const origins = await metric('holdfast.client.budget.level')
    expect(origins).toHaveLength(1000)
    expect(origins.at(-1)?.attributes).toMatchObject({ 'server.address': 'n1099.test' })
  })

  it('show how many settlements no handler has taken', async () => {
    const { telemetry, metric } = telemetryScene({ pendingLimit: 3 })
    const { client, clock } = scenario([{ status: 200, repeat: true }], { telemetry })
    const undelivered = async () => (await metric('holdfast.client.undelivered')).map(({ value }) => value)
    expect(await undelivered()).toEqual([])
    const post = (json: number) => client.post('/charges', { json, name: 'charge' })
    await post(1)
    await post(2)
    expect(await undelivered()).toEqual([2])
    for (const json of [3, 4]) await post(json)
    expect(await undelivered()).toEqual([3])
    client.onSettled('charge', () => {})
    await elapse(clock, 10_000, client.resume())
    expect(await undelivered()).toEqual([0])
  })

  it('count operations that are resumed, breakers that open, and failures of the journal', async () => {
    const { telemetry, metric } = telemetryScene()
    const observe = telemetry.observer(undefined)
    const operation = { key: 'a-key' }
    observe({ type: 'operation.resumed', at: 0, operation, method: 'POST', url: 'https://api.test/a', attempts: 1 })
    observe({ type: 'breaker.changed', at: 0, origin: 'https://api.test', from: 'closed', to: 'open' })
    observe({ type: 'journal.failed', at: 0, error: new Error('the disk is full') })
    expect(await metric('holdfast.client.resumed')).toEqual([{ attributes: POST, value: 1 }])
    expect(await metric('holdfast.client.breaker.changes')).toEqual([
      { attributes: { ...SERVER, 'holdfast.state': 'open' }, value: 1 },
    ])
    expect(await metric('holdfast.client.journal.failures')).toEqual([{ attributes: {}, value: 1 }])
  })
})
