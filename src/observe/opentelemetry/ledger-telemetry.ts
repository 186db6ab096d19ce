import {
  type Attributes,
  type BatchObservableResult,
  type Counter,
  context,
  type Histogram,
  type Meter,
  type ObservableGauge,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { SECONDS_BUCKETS } from './client-metrics.ts'
import { methodAttributes } from './http-attributes.ts'
import { quietly } from './quietly.ts'

/** What is read of a ledger's event. */
export interface ObservedLedgerEvent {
  readonly type: string
  readonly at: number
  readonly method?: string
  readonly path?: string
  readonly key?: string | undefined
  readonly status?: number | undefined
  readonly reason?: string
  readonly durationMs?: number | undefined
}

/** What is read of `ledger.metrics()`. */
export interface ObservedLedger {
  metrics(): Promise<{
    readonly inFlight: number
    readonly store:
      | {
          readonly at: number
          readonly entries: number | undefined
          readonly unknown: number
          readonly oldestUnknownAt: number | undefined
          readonly oldestExpiresAt: number | undefined
        }
      | undefined
  }>
}

/** How a request at the ledger ends, by the event that says so. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'entry.recorded': 'recorded',
  'entry.replayed': 'replayed',
  'entry.released': 'released',
  'entry.abandoned': 'abandoned',
  'request.refused': 'refused',
}
const FAILURES: ReadonlySet<string> = new Set(['claim.lost', 'handler.failed', 'ledger.failed'])

export interface LedgerTerms {
  readonly tracer: Tracer
  readonly meter: Meter
  readonly attributes: Attributes
}

/** Spans and metrics of a ledger, from its events and its gauges. */
export class LedgerTelemetry {
  readonly #terms: LedgerTerms
  readonly #requests: Counter
  readonly #seconds: Histogram
  readonly #failures: Counter
  readonly #entries: ObservableGauge
  readonly #stored: ObservableGauge
  readonly #oldestUnknown: ObservableGauge
  readonly #reaperLag: ObservableGauge

  constructor(terms: LedgerTerms) {
    this.#terms = terms
    const { meter } = terms
    const gauge = (name: string, unit: string, description: string): ObservableGauge =>
      meter.createObservableGauge(`holdfast.ledger.${name}`, { unit, description })
    this.#requests = meter.createCounter('holdfast.ledger.requests', {
      unit: '{request}',
      description: 'Requests with a key, by what the ledger made of them',
    })
    this.#failures = meter.createCounter('holdfast.ledger.failures', {
      unit: '{failure}',
      description: 'Lost claims, handlers that threw after their effect, and failures of the store',
    })
    this.#seconds = meter.createHistogram('holdfast.ledger.request.duration', {
      unit: 's',
      description: 'Time from the arrival of a request to the end of its part in the ledger',
      advice: { explicitBucketBoundaries: SECONDS_BUCKETS },
    })
    this.#entries = gauge('entries', '{entry}', 'Entries that are running in this process, or unknown in the store')
    this.#stored = gauge('entries.stored', '{entry}', 'All entries of the store, estimated')
    this.#oldestUnknown = gauge('entries.unknown.oldest_age', 's', 'Time for which the oldest entry is unknown')
    this.#reaperLag = gauge('reaper.lag', 's', 'Time by which the oldest entry has outlived its retention')
  }

  observe(event: ObservedLedgerEvent): void {
    const { attributes } = this.#terms
    const outcome = OUTCOMES[event.type]
    if (outcome !== undefined) this.#end(event, outcome)
    else if (FAILURES.has(event.type)) this.#failures.add(1, { ...attributes, 'holdfast.failure': event.type })
  }

  #end(event: ObservedLedgerEvent, outcome: string): void {
    const { method = '', reason, durationMs } = event
    const { 'http.request.method': name } = methodAttributes(method)
    const attributes = {
      ...this.#terms.attributes,
      'http.request.method': name,
      'holdfast.ledger.outcome': outcome,
      ...(reason === undefined ? {} : { 'holdfast.reason': reason }),
    }
    this.#requests.add(1, attributes)
    // Without a duration no request has caused it, but the reaper.
    if (durationMs === undefined) return
    this.#seconds.record(durationMs / 1000, attributes)
    this.#makeSpan(event, attributes)
  }

  /** Made when it has ended: the ledger's part of a request, inside of the span of the server's own instrumentation. */
  #makeSpan({ method, path, key, status, at, durationMs = 0 }: ObservedLedgerEvent, shared: Attributes): void {
    const keyed = key === undefined ? {} : { 'idempotency.key': key }
    const attributes = {
      ...shared,
      ...keyed,
      ...(path === undefined ? {} : { 'url.path': path }),
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
    }
    trace.getActiveSpan()?.setAttributes({ ...keyed, 'holdfast.ledger.outcome': shared['holdfast.ledger.outcome'] })
    const options = { attributes, startTime: at - durationMs }
    this.#terms.tracer.startSpan(`holdfast ledger ${method}`, options, context.active()).end(at)
  }

  /** Reads the gauges of a ledger at each collection, until the function that it returns is called. */
  watch(ledger: ObservedLedger): () => void {
    const { meter } = this.#terms
    const observables = [this.#entries, this.#stored, this.#oldestUnknown, this.#reaperLag]
    const read = (result: BatchObservableResult): Promise<void> => this.#read(result, ledger)
    meter.addBatchObservableCallback(read, observables)
    return () => void quietly(() => meter.removeBatchObservableCallback(read, observables))
  }

  async #read(result: BatchObservableResult, ledger: ObservedLedger): Promise<void> {
    const { attributes } = this.#terms
    const { inFlight, store } = await ledger.metrics()
    result.observe(this.#entries, inFlight, { ...attributes, 'holdfast.entry.state': 'running' })
    if (!store) return
    const { at, entries, unknown, oldestUnknownAt = at, oldestExpiresAt = at } = store
    result.observe(this.#entries, unknown, { ...attributes, 'holdfast.entry.state': 'unknown' })
    if (entries !== undefined) result.observe(this.#stored, entries, attributes)
    result.observe(this.#oldestUnknown, Math.max(0, at - oldestUnknownAt) / 1000, attributes)
    result.observe(this.#reaperLag, Math.max(0, at - oldestExpiresAt) / 1000, attributes)
  }
}
