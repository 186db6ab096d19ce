import { type Attributes, context, propagation, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll } from 'vitest'
import { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from '../../src/opentelemetry/index.ts'

class ManualReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

export interface Measured {
  readonly attributes: Attributes
  readonly value: unknown
}

export interface TelemetryScene {
  readonly telemetry: OpenTelemetry
  readonly tracer: Tracer
  /** Those that have ended, in this order. */
  spans(): ReadableSpan[]
  /** The data points of one metric, as a collection gives them now. */
  metric(name: string): Promise<Measured[]>
  metricNames(): Promise<string[]>
}

/** The real SDK: spans go into memory, metrics are collected when they are asked for. */
export function telemetryScene(options: OpenTelemetryOptions = {}): TelemetryScene {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const reader = new ManualReader()
  const meterProvider = new MeterProvider({ readers: [reader] })
  const collect = async () => {
    const { resourceMetrics, errors } = await reader.collect()
    if (errors.length > 0) throw errors[0]
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  }
  return {
    telemetry: openTelemetry({ tracerProvider, meterProvider, ...options }),
    tracer: tracerProvider.getTracer('the program'),
    spans: () => exporter.getFinishedSpans(),
    metric: async (name) => {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === name)
      return found?.dataPoints.map(({ attributes, value }) => ({ attributes, value })) ?? []
    },
    metricNames: async () => (await collect()).map(({ descriptor }) => descriptor.name),
  }
}

/** As an SDK does when it is started: contexts follow what is awaited, and are sent as W3C has it. For one file of tests. */
export function withGlobalContext(): void {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  })
  afterAll(() => {
    context.disable()
    propagation.disable()
  })
}

/** As the header of W3C Trace Context names it. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext()
  return `00-${traceId}-${spanId}-01`
}
