import { context, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../../src/index.ts'
import { OperationSpans } from '../../../src/observe/opentelemetry/operation-spans.ts'
import { elapse, failure, rejection, scenario } from '../../support/client-scenario.ts'
import { telemetryScene, traceparentOf, withGlobalContext } from '../../support/telemetry-scene.ts'

withGlobalContext()

const work = (spans: readonly ReadableSpan[]): ReadableSpan[] => spans.filter(({ name }) => name.startsWith('holdfast'))
const attempts = (spans: readonly ReadableSpan[]): ReadableSpan[] => spans.filter(({ name }) => name === 'POST')
const linkedTo = (span: ReadableSpan | undefined): (string | undefined)[] =>
  span?.links.map((link) => link.context.spanId) ?? []

describe('a trace', () => {
  it('goes on after a restart by a link to the call that was accepted', async () => {
    const before = telemetryScene()
    const journal = memoryJournal()
    const first = scenario([{ hang: true }], { journal, telemetry: before.telemetry })
    const handle = first.client.post('/charges', { json: 1, name: 'charge' })
    await handle.accepted
    const stopped = failure(handle)
    await elapse(first.clock, 1, first.client.close({ grace: 0 }))
    await stopped

    const after = telemetryScene()
    const second = scenario([{ status: 201 }], { journal, telemetry: after.telemetry })
    expect(await second.client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })

    const [accepted] = work(before.spans())
    const [resumed, ...others] = work(after.spans())
    expect(others).toEqual([])
    expect(accepted?.attributes).toMatchObject({ 'holdfast.status': 'pending', 'idempotency.key': handle.key })
    expect(resumed?.attributes).toMatchObject({
      'holdfast.status': 'succeeded',
      'holdfast.resumed': true,
      'holdfast.attempts': 2,
      'idempotency.key': handle.key,
    })
    expect(resumed?.parentSpanContext).toBeUndefined()
    expect(linkedTo(resumed)).toEqual([accepted?.spanContext().spanId])
    expect(resumed?.links[0]?.context.traceId).toBe(accepted?.spanContext().traceId)
    const [again] = attempts(after.spans())
    expect(again?.attributes['http.request.resend_count']).toBe(1)
    expect(again?.parentSpanContext?.spanId).toBe(resumed?.spanContext().spanId)
    expect(second.fetch.calls[0]?.headers.traceparent).toBe(again && traceparentOf(again))
  })

  it('goes on in a retry by key, below the active span', async () => {
    const { telemetry, tracer, spans } = telemetryScene()
    const { client } = scenario([{ status: 500 }, { status: 201 }], { telemetry, retry: false })
    const error = await failure(client.post('/charges', { json: 1 }))
    const parent = tracer.startSpan('an operator')
    await context.with(trace.setSpan(context.active(), parent), () => client.retry(error.operation?.key ?? ''))
    const [first, second] = work(spans())
    expect(second?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(linkedTo(second)).toEqual([first?.spanContext().spanId])
    expect(linkedTo(first)).toEqual([])
  })

  it('goes on where an operation was prepared in it, and is sent by a resume', async () => {
    const { telemetry, tracer, spans } = telemetryScene()
    const { client, journal } = scenario([{ status: 201 }], {
      telemetry,
      journal: { ...memoryJournal(), persistIn: async (_, row) => void (await store(row)) },
    })
    const store = (row: Parameters<NonNullable<typeof journal.persistIn>>[1]) =>
      journal.execute([{ do: 'append', row }])
    const parent = tracer.startSpan('checkout')
    const prepared = await context.with(trace.setSpan(context.active(), parent), () =>
      client.prepare('POST', '/charges', { json: 1 }),
    )
    await prepared.persist({})
    await client.resume()
    expect(linkedTo(work(spans())[0])).toEqual([parent.spanContext().spanId])
  })

  it('names the key of the operation that a call has joined', async () => {
    const { telemetry, spans } = telemetryScene()
    const journal = memoryJournal()
    const first = scenario([{ status: 201 }], { journal, telemetry })
    const { key } = first.client.post('/charges', { json: 1, id: 'order:1' })
    await first.client.flush()
    await first.client.close()
    const second = scenario([], { journal, telemetry })
    await second.client.post('/charges', { json: 1, id: 'order:1' })
    expect(work(spans()).map(({ attributes }) => attributes['idempotency.key'])).toEqual([key, key])
    expect(attempts(spans())).toHaveLength(1)
  })

  it('has nothing left in memory once its operations have ended, or their callers have left', async () => {
    const { telemetry, tracer } = telemetryScene()
    const terms = { tracer, attributes: {}, networkSpans: 'suppressed', propagateTo: () => true } as const
    const operations = new OperationSpans(terms)
    const steps = [{}, { status: 500 }, { status: 500 }, {}, { status: 500, delay: 100 }, { status: 500 }]
    const { client, clock } = scenario(steps, {
      telemetry: {
        ...telemetry,
        observer: () => (event) => operations.take(event),
        traceCall: (call, keying) => operations.ofCall(call, keying),
        traceResume: (record) => operations.ofResume(record),
      },
    })
    const kept = { onGiveUp: 'keep', retry: false } as const
    await client.post('/charges', { json: 1 })
    await failure(client.post('/charges', { json: 2, ...kept }))
    await elapse(clock, 60_000, client.resume())
    const leaves = new AbortController()
    const three = { ...kept, json: 3, id: 'three' }
    const left = rejection(client.post('/charges', { ...three, signal: leaves.signal }))
    const stays = failure(client.post('/charges', three))
    await clock.advance(1)
    leaves.abort()
    await elapse(clock, 60_000, Promise.all([left, stays]))
    await failure(client.post('/charges', { ...kept, json: 4 }))
    await client.close()
    expect(operations.running.size).toBe(0)
  })
})
