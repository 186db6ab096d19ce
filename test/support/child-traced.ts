import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { createClient } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'

/** Makes one call that is traced, to a server that does not answer, and waits to be killed. */
const { origin, path } = JSON.parse(process.argv[2] ?? '{}') as { readonly origin: string; readonly path: string }

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
const tracerProvider = new BasicTracerProvider()
const client = createClient({
  baseUrl: origin,
  journal: sqliteJournal({ path }),
  telemetry: openTelemetry({ tracerProvider }),
})
const parent = tracerProvider.getTracer('the program').startSpan('checkout')
const handle = context.with(trace.setSpan(context.active(), parent), () => client.post('/charges', { json: 1 }))
handle.catch(() => {})
process.stdout.write(`${JSON.stringify({ traceId: parent.spanContext().traceId, key: handle.key })}\n`)
process.stdin.resume()
