import {
  type Attributes,
  context,
  type MeterProvider,
  metrics,
  ROOT_CONTEXT,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { systemClock } from '../../foundation/clock.ts'
import type { HoldfastEvent, Sender, Telemetry, TracedRecord, WorkTrace } from '../port.ts'
import { ClientMetrics } from './client-metrics.ts'
import { LedgerTelemetry, type ObservedLedger, type ObservedLedgerEvent } from './ledger-telemetry.ts'
import { quietly } from './quietly.ts'
import { fromTraceparent, toTraceparent } from './traceparent.ts'
import { type SpanTerms, WorkSpan } from './work-span.ts'

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
  /** How many pending operations are counted at most; they are read at each collection. Default 1000. */
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
  const terms: SpanTerms = { tracer, attributes, networkSpans, propagateTo, running: new Map() }
  const counts = new ClientMetrics(meter, attributes)
  const ledgers = new LedgerTelemetry({ tracer, meter, attributes })
  return {
    observer: (next) => (event) => {
      quietly(() => counts.count(event))
      quietly(() => tellSpans(terms, event))
      return next?.(event)
    },
    traceCall: (call, { keyed }) => quietly(() => callSpan(terms, call, keyed)) ?? UNTRACED,
    traceResume: (record) => quietly(() => resumeSpan(terms, record)) ?? UNTRACED,
    traceRecord: () => quietly(() => toTraceparent(trace.getActiveSpan()?.spanContext())),
    attach: (client, closing, journal) =>
      void quietly(() => counts.watch({ client, journal, limit, now: () => systemClock.now() }, closing)),
    ledgerObserver: (next) => (event) => {
      quietly(() => ledgers.observe(event))
      return next?.(event)
    },
    attachLedger: (ledger) => quietly(() => ledgers.watch(ledger)) ?? (() => {}),
  }
}

/** In place of a span that could not be made. */
const UNTRACED: WorkTrace = {
  record: undefined,
  attempt: <T extends Sender>(transport: T): T => transport,
  endWith: () => {},
}

/** A child of the caller's active span. */
function callSpan(terms: SpanTerms, call: Parameters<Telemetry['traceCall']>[0], keyed: boolean): WorkSpan {
  const parent = context.active()
  const { id, name } = call.operation
  const attributes = { ...terms.attributes, ...operationAttributes({ id, name }) }
  const span = terms.tracer.startSpan(spanName(name ?? call.method), { attributes }, parent)
  return new WorkSpan(terms, { span, parent, keyed, by: 'call' })
}

/** The root of a trace of its own, linked to the one in which the operation was accepted. */
function resumeSpan(terms: SpanTerms, record: TracedRecord): WorkSpan {
  const accepted = fromTraceparent(record.trace)
  const name = spanName(record.name ?? record.request.method)
  const attributes = { ...terms.attributes, ...operationAttributes(record), 'holdfast.resumed': true }
  const links = accepted ? [{ context: accepted }] : []
  const span = terms.tracer.startSpan(name, { attributes, links, root: true }, ROOT_CONTEXT)
  const work = new WorkSpan(terms, { span, parent: ROOT_CONTEXT, keyed: true, by: 'resume' }, record.trace)
  terms.running.set(record.key, work)
  return work
}

function spanName(what: string): string {
  return `${NAME} ${what}`
}

function operationAttributes({ id, name }: Pick<TracedRecord, 'id' | 'name'>): Attributes {
  return {
    ...(id === undefined ? {} : { 'holdfast.operation.id': id }),
    ...(name === undefined ? {} : { 'holdfast.operation.name': name }),
  }
}

function tellSpans({ running }: SpanTerms, event: HoldfastEvent): void {
  if (!('operation' in event)) return
  const { key } = event.operation
  const work = running.get(key)
  if (!work) return
  if (event.type === 'attempt.ended') work.endAttempt(event.attempt)
  if (event.type === 'operation.waiting') work.addEvent(event.type, { 'holdfast.reason': event.reason })
  if (event.type === 'lease.lost') work.addEvent(event.type, {})
  if (event.type === 'operation.settled') work.settle(event)
  if (event.type === 'operation.settled' || (event.type === 'attempt.ended' && work.isEnded)) running.delete(key)
}

function isPropagatedByDefault(url: string): boolean {
  const { location } = globalThis as { readonly location?: { readonly origin: string } }
  return location === undefined || new URL(url).origin === location.origin
}
