import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { openTelemetry } from '../../../src/opentelemetry/index.ts'
import { elapse, failure, ORIGIN, rejection, rowsOf, scenario } from '../../support/client-scenario.ts'
import { telemetryScene, traceparentOf, withGlobalContext } from '../../support/telemetry-scene.ts'

withGlobalContext()

/** As a ledger answers an attempt whose work an earlier one has done. */
const REPLAYED = { status: 201, headers: { 'idempotency-replayed': 'true' } }

const byName = (spans: readonly ReadableSpan[], name: string): ReadableSpan[] =>
  spans.filter((span) => span.name === name)

function only(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const [found, ...others] = byName(spans, name)
  if (!found || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} spans are called ${name}`)
  return found
}

describe('the spans of a call', () => {
  it('are one for the operation, below the active span, and a child for each attempt', async () => {
    const { telemetry, tracer, spans } = telemetryScene()
    const { client, clock } = scenario([{ status: 503 }, { fault: 'reset' }, REPLAYED], { telemetry })
    const parent = tracer.startSpan('checkout')
    const handle = context.with(trace.setSpan(context.active(), parent), () => client.post('/charges?q=1', { json: 1 }))
    await elapse(clock, 60_000, handle)
    parent.end()
    const operation = only(spans(), 'holdfast POST')
    const attempts = byName(spans(), 'POST')
    expect(operation.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(operation.kind).toBe(SpanKind.INTERNAL)
    expect(attempts.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      Array(3).fill(operation.spanContext().spanId),
    )
    const shared = {
      'http.request.method': 'POST',
      'server.address': 'api.test',
      'server.port': 443,
      'url.full': `${ORIGIN}/charges?q=REDACTED`,
      'idempotency.key': handle.key,
    }
    expect(attempts.map(({ kind, attributes, status }) => ({ kind, attributes, status: status.code }))).toEqual([
      {
        kind: SpanKind.CLIENT,
        attributes: { ...shared, 'http.response.status_code': 503, 'error.type': '503' },
        status: SpanStatusCode.ERROR,
      },
      {
        kind: SpanKind.CLIENT,
        attributes: { ...shared, 'http.request.resend_count': 1, 'error.type': 'ECONNRESET' },
        status: SpanStatusCode.ERROR,
      },
      {
        kind: SpanKind.CLIENT,
        attributes: { ...shared, 'http.request.resend_count': 2, 'http.response.status_code': 201 },
        status: SpanStatusCode.UNSET,
      },
    ])
    expect(operation.attributes).toEqual({
      ...shared,
      'holdfast.status': 'succeeded',
      'holdfast.effect': 'applied',
      'holdfast.attempts': 3,
      'holdfast.replayed': true,
    })
    expect(operation.events.map(({ name }) => name)).toEqual(['operation.waiting', 'operation.waiting'])
  })

  it('send the traceparent of the attempt, over one that the caller has set', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 201 }], { telemetry })
    const headers = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }
    await elapse(clock, 60_000, client.post('/charges', { json: 1, headers }))
    expect(fetch.calls.map((call) => call.headers.traceparent)).toEqual(byName(spans(), 'POST').map(traceparentOf))
  })

  it('show no key where none is sent', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client } = scenario([{ status: 200 }], { telemetry })
    await client.get('/charges')
    expect(only(spans(), 'GET').attributes).not.toHaveProperty('idempotency.key')
    expect(only(spans(), 'holdfast GET').attributes).not.toHaveProperty('idempotency.key')
  })

  it('end with the error that the caller gets', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client } = scenario([{ status: 422 }], { telemetry })
    const error = await failure(client.post('/charges', { json: 1, name: 'charge', id: 'order:1' }))
    const operation = only(spans(), 'holdfast charge')
    expect(operation.status).toEqual({ code: SpanStatusCode.ERROR, message: error.message })
    expect(operation.attributes).toMatchObject({
      'error.type': error.code,
      'holdfast.status': 'rejected',
      'holdfast.reason': 'status',
      'holdfast.effect': 'none',
      'holdfast.operation.id': 'order:1',
      'holdfast.operation.name': 'charge',
    })
  })

  it('do not show what the reason of an abort says', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client } = scenario([{ hang: true }], { telemetry })
    const abort = new AbortController()
    const handle = client.post('/charges', { json: 1, signal: abort.signal })
    await handle.accepted
    abort.abort(new Error('the secret of Ada'))
    await rejection(handle)
    await client.flush()
    expect(only(spans(), 'holdfast POST').attributes).toMatchObject({ 'error.type': 'Error' })
    expect(JSON.stringify(spans().map(shown))).not.toContain('Ada')
  })

  it('carry no body, no header and no value of a query', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client } = scenario([{ status: 200, headers: { 'x-a': 'secret-1' }, body: 'secret-2' }], {
      telemetry,
      headers: { authorization: 'Bearer secret-3' },
    })
    const headers = { 'x-b': 'secret-4', cookie: 'secret-5' }
    await client.post(`${ORIGIN}/a?token=secret-6&q=secret-7#secret-8`, { body: 'secret-9', headers })
    expect(only(spans(), 'POST').attributes['url.full']).toBe(`${ORIGIN}/a?q=REDACTED`)
    expect(JSON.stringify(spans().map(shown))).not.toContain('secret')
  })

  it('are of the attempts also where a method is not registered', async () => {
    const { telemetry, spans } = telemetryScene()
    const { client } = scenario([{ status: 200 }], { telemetry })
    await client.request('PURGE', '/charges')
    expect(only(spans(), 'HTTP').attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PURGE',
    })
  })

  it('leave key, bytes and fingerprint of the operation as they are', async () => {
    const { telemetry } = telemetryScene()
    const options = { json: { amount: 5000 }, key: 'a-key', id: 'order:1' }
    const traced = scenario([{ status: 201 }], { telemetry })
    const plain = scenario([{ status: 201 }])
    await Promise.all([traced.client.post('/charges', options), plain.client.post('/charges', options)])
    const [[row], [other]] = await Promise.all([rowsOf(traced.journal), rowsOf(plain.journal)])
    const { trace: kept, ...head } = JSON.parse(row?.head ?? '{}') as { trace: string }
    expect(kept).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)
    expect({ ...head, attempts: [] }).toMatchObject({ ...JSON.parse(other?.head ?? '{}'), attempts: [] })
    expect(row?.body).toEqual(other?.body)
  })

  it('are the network’s alone where nothing is to be propagated', async () => {
    const { telemetry } = telemetryScene({ propagateTo: () => false })
    const { client, fetch } = scenario([{ status: 201 }], { telemetry })
    await client.post('/charges', { json: 1 })
    expect(fetch.calls[0]?.headers).not.toHaveProperty('traceparent')
  })
})

describe('telemetry that fails', () => {
  it('does not break a call', async () => {
    const fail = (): never => {
      throw new Error('the processor is broken')
    }
    const broken = { onStart: fail, onEnd: fail, forceFlush: async () => {}, shutdown: async () => {} }
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [broken] })
    const { client } = scenario([{ status: 201 }], { telemetry: openTelemetry({ tracerProvider }) })
    expect((await client.post('/charges', { json: 1 })).status).toBe(201)
  })

  it('does not keep an observer from its events', async () => {
    const { telemetry } = telemetryScene()
    const { client, events } = scenario([{ status: 201 }], { telemetry })
    await client.post('/charges', { json: 1 })
    expect(events.map(({ type }) => type)).toContain('operation.settled')
  })
})

function shown({ name, attributes, events, status, links }: ReadableSpan): object {
  return { name, attributes, events, status, links }
}
