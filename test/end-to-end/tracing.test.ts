import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context, propagation, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { startProgram } from '../support/child-program.ts'
import { temporaryFolder } from '../support/shared-folder.ts'
import { telemetryScene, traceparentOf, withGlobalContext } from '../support/telemetry-scene.ts'

withGlobalContext()

interface Site {
  readonly origin: string
  /** The headers `traceparent` of each request, in the order of their arrival. */
  readonly traceparents: (readonly string[])[]
  /** Resolves with the next request that arrives. */
  next(): Promise<void>
  /** Does it take requests without answering them? */
  isSilent: boolean
}

async function site(): Promise<Site> {
  const waiting: (() => void)[] = []
  const server = createServer((request: IncomingMessage, response) => {
    request.resume()
    here.traceparents.push(request.headersDistinct.traceparent ?? [])
    if (!here.isSilent) response.writeHead(201).end()
    waiting.shift()?.()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const here: Site = {
    origin: `http://127.0.0.1:${port}`,
    traceparents: [],
    next: () => new Promise((resolve) => waiting.push(resolve)),
    isSilent: false,
  }
  return here
}

/** What the instrumentation of undici does: a span for each request, and its context in a header. */
function instrumentUndici(tracer: Tracer): void {
  const onRequest = (message: unknown): void => {
    const { request } = message as { request: { addHeader(name: string, value: string): void } }
    const span = tracer.startSpan('undici', { kind: SpanKind.CLIENT }, context.active())
    const carrier: Record<string, string> = {}
    propagation.inject(trace.setSpan(context.active(), span), carrier)
    for (const [name, value] of Object.entries(carrier)) request.addHeader(name, value)
    span.end()
  }
  subscribe('undici:request:create', onRequest)
  onTestFinished(() => void unsubscribe('undici:request:create', onRequest))
}

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan | undefined =>
  spans.find((span) => span.name === name)

describe('the traces of a client', () => {
  it('go on after a crash: what is sent again links to the call in the process that was killed', async () => {
    const server = await site()
    const { origin, traceparents } = server
    server.isSilent = true
    const path = `${temporaryFolder()}/operations.db`
    const arrived = server.next()
    const child = await startProgram('child-traced', { origin, path })
    await arrived
    const { traceId, key } = JSON.parse(await child.until(() => true)) as {
      readonly traceId: string
      readonly key: string
    }
    await child.kill()
    server.isSilent = false

    const { telemetry, spans } = telemetryScene()
    const journal = sqliteJournal({ path })
    const client = createClient({ baseUrl: origin, journal, telemetry })
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await client.close()
    await journal.close()

    const [[first = ''] = [], [second] = []] = traceparents
    const resumed = named(spans(), 'holdfast POST')
    const attempt = named(spans(), 'POST')
    expect(first.split('-')[1]).toBe(traceId)
    expect(resumed?.links.map((link) => link.context.traceId)).toEqual([traceId])
    expect(resumed?.attributes).toMatchObject({ 'idempotency.key': key, 'holdfast.resumed': true })
    expect(attempt?.attributes).toMatchObject({ 'idempotency.key': key, 'http.request.resend_count': 1 })
    expect(second).toBe(attempt && traceparentOf(attempt))
  })

  it.each(['suppressed', 'nested'] as const)(
    'send one traceparent where undici is instrumented: %s',
    async (networkSpans) => {
      const { origin, traceparents } = await site()
      const { telemetry, tracer, spans } = telemetryScene({ networkSpans })
      instrumentUndici(tracer)
      const client = createClient({ baseUrl: origin, journal: memoryJournal(), telemetry })
      await client.post('/charges', { json: 1 })
      await client.close()
      const attempt = named(spans(), 'POST')
      const inner = named(spans(), 'undici')
      expect(inner?.parentSpanContext?.spanId).toBe(
        networkSpans === 'nested' ? attempt?.spanContext().spanId : undefined,
      )
      const sender = networkSpans === 'nested' ? inner : attempt
      expect(traceparents).toEqual([[sender && traceparentOf(sender)]])
    },
  )
})
