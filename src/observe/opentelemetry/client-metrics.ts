import type { Attributes, BatchObservableResult, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'
import type { Reason } from '../../errors/reason.ts'
import type { ClientGauges, HoldfastEvent, OriginGauges } from '../port.ts'
import { methodAttributes, outcomeAttributes, serverAttributes } from './http-attributes.ts'

type EventOf<Type extends HoldfastEvent['type']> = Extract<HoldfastEvent, { readonly type: Type }>
type OfOperation = Extract<HoldfastEvent, { readonly operation: unknown }>

/** Why an attempt that could have mended it was not made. */
const REFUSALS: ReadonlySet<Reason | undefined> = new Set<Reason>([
  'attempts',
  'deadline',
  'horizon',
  'budget',
  'breaker',
  'do-not-retry',
  'not-replayable',
])

/** Seconds, as the semantic conventions have them for requests. */
export const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Counts the events of a client, and reads its gauges when metrics are collected. */
export class ClientMetrics {
  readonly #meter: Meter
  readonly #shared: Attributes
  readonly #operations: Counter
  readonly #attempts: Counter
  readonly #attemptSeconds: Histogram
  readonly #refused: Counter
  readonly #resumed: Counter
  readonly #breakerChanges: Counter
  readonly #journalFailures: Counter
  readonly #budget: ObservableGauge
  readonly #waiting: ObservableGauge
  readonly #waitedSeconds: ObservableGauge
  readonly #inFlight: ObservableGauge
  readonly #pending: ObservableGauge
  readonly #oldestSeconds: ObservableGauge
  readonly #undelivered: ObservableGauge

  constructor(meter: Meter, shared: Attributes) {
    this.#meter = meter
    this.#shared = shared
    const counter = (name: string, unit: string, description: string): Counter =>
      meter.createCounter(`holdfast.client.${name}`, { unit, description })
    const gauge = (name: string, unit: string, description: string): ObservableGauge =>
      meter.createObservableGauge(`holdfast.client.${name}`, { unit, description })
    this.#operations = counter('operations', '{operation}', 'Operations that have settled')
    this.#attempts = counter('attempts', '{attempt}', 'Attempts that have ended')
    this.#attemptSeconds = meter.createHistogram('holdfast.client.attempt.duration', {
      unit: 's',
      description: 'Time from the start of an attempt to its end',
      advice: { explicitBucketBoundaries: SECONDS_BUCKETS },
    })
    this.#refused = counter('retries.refused', '{retry}', 'Retries that were not made, by reason')
    this.#resumed = counter('resumed', '{operation}', 'Operations that a resume has taken up')
    this.#breakerChanges = counter('breaker.changes', '{change}', 'Changes of circuit breakers, by new state')
    this.#journalFailures = counter('journal.failures', '{failure}', 'Failures of the journal without a caller')
    this.#budget = gauge('budget.level', '{token}', 'Tokens in the retry budget of an origin')
    this.#waiting = gauge('waiting', '{request}', 'Requests that wait at the gate of an origin')
    this.#waitedSeconds = gauge('waiting.oldest_age', 's', 'Time since the oldest request that waits at a gate came')
    this.#inFlight = gauge('in_flight', '{request}', 'Requests that were sent to an origin and have not ended')
    this.#pending = gauge('pending', '{operation}', 'Pending operations in the journal')
    this.#oldestSeconds = gauge('pending.oldest_age', 's', 'Time since the oldest pending operation was accepted')
    this.#undelivered = gauge('undelivered', '{settlement}', 'Settlements that no handler has taken yet')
  }

  count(event: HoldfastEvent): void {
    if (event.type === 'attempt.ended') this.#countAttempt(event)
    if (event.type === 'operation.settled') this.#countSettled(event)
    // With an error it is a handler or `reconcile` that is called again, not the server.
    if (event.type === 'operation.waiting' && event.error === undefined) this.#countRefusal(event)
    if (event.type === 'operation.resumed') this.#resumed.add(1, this.#of(event))
    if (event.type === 'breaker.changed') this.#countBreaker(event)
    if (event.type === 'journal.failed') this.#journalFailures.add(1, this.#shared)
  }

  #of({ method, url }: OfOperation): Attributes {
    const { 'http.request.method': name } = methodAttributes(method)
    return { ...this.#shared, 'http.request.method': name, ...serverAttributes(url) }
  }

  #countAttempt(event: EventOf<'attempt.ended'>): void {
    const { attempt } = event
    const attributes = { ...this.#of(event), ...outcomeAttributes(attempt) }
    this.#attempts.add(1, attributes)
    this.#attemptSeconds.record(attempt.durationMs / 1000, attributes)
  }

  #countBreaker({ origin, to }: EventOf<'breaker.changed'>): void {
    this.#breakerChanges.add(1, { ...this.#shared, ...serverAttributes(origin), 'holdfast.state': to })
  }

  #countSettled(event: EventOf<'operation.settled'>): void {
    const { status, reason, attempts, replayed } = event
    const why = reason === undefined ? {} : { 'holdfast.reason': reason }
    this.#operations.add(1, { ...this.#of(event), 'holdfast.status': status, 'holdfast.replayed': replayed, ...why })
    if (attempts > 0) this.#countRefusal(event)
  }

  #countRefusal(event: EventOf<'operation.settled' | 'operation.waiting'>): void {
    const { reason } = event
    if (reason !== undefined && REFUSALS.has(reason))
      this.#refused.add(1, { ...this.#of(event), 'holdfast.reason': reason })
  }

  /** Reads the gauges of a client at each collection, until it closes. */
  watch(source: GaugeSource, closing: AbortSignal): void {
    const ofOrigins = [this.#budget, this.#waiting, this.#waitedSeconds, this.#inFlight]
    const observables = [...ofOrigins, this.#pending, this.#oldestSeconds, this.#undelivered]
    const read = (result: BatchObservableResult): Promise<void> => this.#read(result, source)
    this.#meter.addBatchObservableCallback(read, observables)
    closing.addEventListener('abort', () => this.#meter.removeBatchObservableCallback(read, observables), {
      once: true,
    })
  }

  async #read(result: BatchObservableResult, source: GaugeSource): Promise<void> {
    for (const gauges of source.client.origins()) this.#readOrigin(result, gauges)
    // Reading must not make a journal where the program had no use for one yet.
    if (source.client.isJournalOpen) await this.#readJournal(result, source)
  }

  #readOrigin(result: BatchObservableResult, { origin, tokens, waiting, inFlight, waitedMs }: OriginGauges): void {
    const attributes = { ...this.#shared, ...serverAttributes(origin) }
    // Without a budget it is infinite, which no exporter can say.
    if (Number.isFinite(tokens)) result.observe(this.#budget, tokens, attributes)
    result.observe(this.#waiting, waiting, attributes)
    result.observe(this.#waitedSeconds, waitedMs / 1000, attributes)
    result.observe(this.#inFlight, inFlight, attributes)
  }

  async #readJournal(result: BatchObservableResult, { client, limit, now }: GaugeSource): Promise<void> {
    let pending = 0
    let oldestAt: number | undefined
    for await (const { acceptedAt } of client.operations({ status: 'pending', limit })) {
      pending++
      oldestAt ??= acceptedAt
    }
    const ageMs = oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt)
    result.observe(this.#pending, pending, this.#shared)
    result.observe(this.#oldestSeconds, ageMs / 1000, this.#shared)
    result.observe(this.#undelivered, await client.undelivered(limit), this.#shared)
  }
}

export interface GaugeSource {
  readonly client: ClientGauges
  /** More pending operations, or settlements without a handler, are not counted. */
  readonly limit: number
  readonly now: () => number
}
