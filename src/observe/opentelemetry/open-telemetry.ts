import { type Attributes, type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import { systemClock } from '../../foundation/clock.ts'
import type { Telemetry } from '../port.ts'
import { ClientMetrics } from './client-metrics.ts'
import { LedgerTelemetry, type ObservedLedger, type ObservedLedgerEvent } from './ledger-telemetry.ts'
import { OperationSpans, UNTRACED } from './operation-spans.ts'
import { quietly } from './quietly.ts'
import { toTraceparent } from './traceparent.ts'

export interface OpenTelemetryOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Default: the global one, as it is now: make the telemetry after the SDK has been started. */
  readonly meterProvider?: MeterProvider | undefined
  /**
   * On each span and each metric; tells clients of one process apart.
   *
   * @example attributes: { 'app.client': 'payments' }
   */
  readonly attributes?: Attributes | undefined
  /**
   * Spans of an instrumentation of undici or fetch below the attempts. `'suppressed'`: there are none, and the
   * `traceparent` that is sent is the attempt's. `'nested'`: they are children of the attempt, and the instrumentation
   * sends their `traceparent`; without one, none is sent. Default `'suppressed'`.
   */
  readonly networkSpans?: 'suppressed' | 'nested' | undefined
  /**
   * Is the trace's context sent to this URL? Default: everywhere; from a page to its own origin only, since others would
   * have to allow the header (CORS).
   */
  readonly propagateTo?: ((url: string) => boolean) | undefined
  /** How many pending operations, and settlements without a handler, are counted at most; they are read at each collection. Default 1000. */
  readonly pendingLimit?: number | undefined
}

/** For the option `telemetry` of `createClient` and of `createLedger`. */
export interface OpenTelemetry extends Telemetry {
  ledgerObserver<Event extends ObservedLedgerEvent>(next: ((event: Event) => void) | undefined): (event: Event) => void
  attachLedger(ledger: ObservedLedger): () => void
}

const NAME = 'holdfast'

/**
 * Traces and metrics by OpenTelemetry. One for each client: metrics of two would be mixed, unless `attributes` differ.
 *
 * ```ts
 * const client = createClient({ baseUrl: 'https://api.example.com', telemetry: openTelemetry() })
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  const { attributes = {}, networkSpans = 'suppressed', pendingLimit: limit = 1000 } = options
  const { propagateTo = isPropagatedByDefault } = options
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(NAME)
  const meter = (options.meterProvider ?? metrics.getMeterProvider()).getMeter(NAME)
  const spans = new OperationSpans({ tracer, attributes, networkSpans, propagateTo })
  const counts = new ClientMetrics(meter, attributes)
  const ledgers = new LedgerTelemetry({ tracer, meter, attributes })
  return {
    observer: (next) => (event) => {
      quietly(() => counts.count(event))
      quietly(() => spans.take(event))
      return next?.(event)
    },
    traceCall: (call, terms) => quietly(() => spans.ofCall(call, terms)) ?? UNTRACED,
    traceResume: (record) => quietly(() => spans.ofResume(record)) ?? UNTRACED,
    traceRecord: () => quietly(() => toTraceparent(trace.getActiveSpan()?.spanContext())),
    attach: (client, closing) =>
      void quietly(() => counts.watch({ client, limit, now: () => systemClock.now() }, closing)),
    ledgerObserver: (next) => (event) => {
      quietly(() => ledgers.observe(event))
      return next?.(event)
    },
    attachLedger: (ledger) => quietly(() => ledgers.watch(ledger)) ?? (() => {}),
  }
}

function isPropagatedByDefault(url: string): boolean {
  const { location } = globalThis as { readonly location?: { readonly origin: string } }
  return location === undefined || new URL(url).origin === location.origin
}
