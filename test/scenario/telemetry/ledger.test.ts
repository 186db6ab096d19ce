import { context, trace } from '@opentelemetry/api'
import { describe, expect, it, vi } from 'vitest'
import { createLedger, json, type LedgerEvent, memoryLedger } from '../../../src/server/index.ts'
import { telemetryScene, withGlobalContext } from '../../support/telemetry-scene.ts'

withGlobalContext()

function charge(key?: string): Request {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return new Request('https://api.test/charges?q=secret', { method: 'POST', body: '{"amount":"secret"}', headers })
}

function scene(options: Parameters<typeof telemetryScene>[0] = {}) {
  const seen = telemetryScene(options)
  const events: LedgerEvent[] = []
  const store = memoryLedger()
  const ledger = createLedger({
    store,
    scope: 'public',
    telemetry: seen.telemetry,
    observe: (event) => void events.push(event),
  })
  const handler = ledger.protect(async () => new Response('secret', { status: 201 }))
  return { ...seen, ledger, store, handler, events }
}

describe('the spans of a ledger', () => {
  it('say below the server’s span what became of the request', async () => {
    const { handler, tracer, spans } = scene()
    const server = tracer.startSpan('POST /charges')
    await context.with(trace.setSpan(context.active(), server), async () => {
      await handler(charge('key-1'))
      await handler(charge('key-1'))
    })
    server.end()
    const [first, second] = spans()
    const shared = {
      'http.request.method': 'POST',
      'url.path': '/charges',
      'http.response.status_code': 201,
      'idempotency.key': 'key-1',
    }
    expect(first).toMatchObject({
      name: 'holdfast ledger POST',
      parentSpanContext: { spanId: server.spanContext().spanId },
      attributes: { ...shared, 'holdfast.ledger.outcome': 'recorded' },
    })
    expect(second?.attributes).toEqual({ ...shared, 'holdfast.ledger.outcome': 'replayed' })
    expect(spans()[2]?.attributes).toEqual({ 'idempotency.key': 'key-1', 'holdfast.ledger.outcome': 'replayed' })
    expect(JSON.stringify(spans().map(({ name, attributes }) => ({ name, attributes })))).not.toContain('secret')
  })

  it('show a refusal with its reason', async () => {
    const { handler, spans } = scene()
    await handler(charge())
    expect(spans()[0]?.attributes).toMatchObject({
      'holdfast.ledger.outcome': 'refused',
      'holdfast.reason': 'key-missing',
    })
    expect(spans()[0]?.attributes).not.toHaveProperty('idempotency.key')
  })
})

describe('the metrics of a ledger', () => {
  it('count requests by outcome, replays among them, and failures', async () => {
    const { handler, metric, events, telemetry } = scene()
    await handler(charge('key-1'))
    await handler(charge('key-1'))
    await handler(charge())
    telemetry.ledgerObserver(undefined)({ type: 'ledger.failed', at: 0 })
    const own = { 'http.request.method': 'POST' }
    expect(await metric('holdfast.ledger.requests')).toEqual([
      { attributes: { ...own, 'holdfast.ledger.outcome': 'recorded' }, value: 1 },
      { attributes: { ...own, 'holdfast.ledger.outcome': 'replayed' }, value: 1 },
      { attributes: { ...own, 'holdfast.ledger.outcome': 'refused', 'holdfast.reason': 'key-missing' }, value: 1 },
    ])
    expect(await metric('holdfast.ledger.failures')).toEqual([
      { attributes: { 'holdfast.failure': 'ledger.failed' }, value: 1 },
    ])
    expect(events.map(({ type }) => type)).toEqual([
      'entry.claimed',
      'entry.recorded',
      'entry.replayed',
      'request.refused',
    ])
  })

  it('show entries by state without counting rows, until the ledger closes', async () => {
    const { handler, ledger, store, metric } = scene({ attributes: { 'app.ledger': 'charges' } })
    const gauges = vi.spyOn(store, 'gauges')
    const stats = vi.spyOn(store, 'stats')
    const external = ledger.protect(
      async () => {
        const entries = await metric('holdfast.ledger.entries')
        return json(entries, { status: 500 }) as never
      },
      { external: true },
    )
    await handler(charge('key-1'))
    const during = (await (await external(charge('key-2'))).json()) as unknown
    const own = { 'app.ledger': 'charges' }
    const of = (state: string, value: number): object => ({
      attributes: { ...own, 'holdfast.entry.state': state },
      value,
    })
    expect(during).toEqual([of('running', 1), of('unknown', 0)])
    expect(await metric('holdfast.ledger.entries')).toEqual([of('running', 0), of('unknown', 1)])
    expect(await metric('holdfast.ledger.entries.stored')).toEqual([{ attributes: own, value: 2 }])
    expect(await metric('holdfast.ledger.entries.unknown.oldest_age')).toMatchObject([{ attributes: own }])
    expect(await metric('holdfast.ledger.reaper.lag')).toEqual([{ attributes: own, value: 0 }])
    await ledger.close()
    const before = gauges.mock.calls.length
    await metric('holdfast.ledger.entries')
    expect(gauges).toHaveBeenCalledTimes(before)
    expect(stats).not.toHaveBeenCalled()
  })
})
