import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { type AttemptSummary, isHoldfastError } from '../../errors/holdfast-error.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { HoldfastEvent, Sender, TracedRecord, WorkTrace } from '../port.ts'
import {
  methodAttributes,
  outcomeAttributes,
  requestSpanName,
  serverAttributes,
  urlAttributes,
} from './http-attributes.ts'
import { quietly } from './quietly.ts'
import { fromTraceparent, toTraceparent } from './traceparent.ts'

/** By this key of its context the SDK, and every instrumentation on it, knows that no span is to be made. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/** What the spans of one `openTelemetry()` share. */
export interface SpanTerms {
  readonly tracer: Tracer
  readonly attributes: Attributes
  /** Does an instrumentation of the network make spans below the attempts? Then it sends its own `traceparent`. */
  readonly networkSpans: 'suppressed' | 'nested'
  readonly propagateTo: (url: string) => boolean
  /** By key: whose span the events of an operation are about. */
  readonly running: Map<string, WorkSpan>
}

type Settled = Extract<HoldfastEvent, { readonly type: 'operation.settled' }>

interface BegunSpan {
  readonly span: Span
  readonly parent: Context
  readonly keyed: boolean
  readonly by: 'call' | 'resume'
}

/** The span of a call, or of what a resume does for one operation, with a child for each attempt. */
export class WorkSpan implements WorkTrace {
  readonly record: string | undefined
  readonly #terms: SpanTerms
  readonly #span: Span
  readonly #context: Context
  readonly #isKeyed: boolean
  readonly #by: BegunSpan['by']
  #attempt: Span | undefined
  #linkedTo: string | undefined
  #isEnded = false

  /** `linkedTo`: what the span was linked to as it began. */
  constructor(terms: SpanTerms, { span, parent, keyed, by }: BegunSpan, linkedTo?: string) {
    this.#linkedTo = linkedTo
    this.#terms = terms
    this.#span = span
    this.#context = trace.setSpan(parent, span)
    this.#isKeyed = keyed
    this.#by = by
    this.record = toTraceparent(span.spanContext())
  }

  attempt<T extends Sender>(transport: T, record: TracedRecord, number: number): T {
    return quietly(() => this.#startAttempt(transport, record, number)) ?? transport
  }

  #startAttempt<T extends Sender>(transport: T, record: TracedRecord, number: number): T {
    const { tracer, running, networkSpans } = this.#terms
    const { method, url } = record.request
    const request = { ...methodAttributes(method), ...serverAttributes(url), ...urlAttributes(url) }
    this.#span.setAttributes(request)
    this.#linkTo(record)
    const attributes = { ...request, ...this.#keyAttribute(record.key), ...resendAttribute(number) }
    const span = tracer.startSpan(requestSpanName(method), { kind: SpanKind.CLIENT, attributes }, this.#context)
    this.#attempt = span
    running.set(record.key, this)
    const within = trace.setSpan(this.#context, span)
    const headers = networkSpans === 'nested' ? [] : this.#headers(within, url)
    const active = networkSpans === 'nested' ? within : within.setValue(SUPPRESS_TRACING, true)
    return sendingIn(active, transport, headers)
  }

  #headers(within: Context, url: string): HeaderList {
    if (!this.#terms.propagateTo(url)) return []
    const carrier: Record<string, string> = {}
    propagation.inject(within, carrier)
    return Object.entries(carrier).map(([name, value]) => [name.toLowerCase(), value])
  }

  #keyAttribute(key: string): Attributes {
    return this.#isKeyed ? { 'idempotency.key': key } : {}
  }

  /** The operation was accepted in another trace: before a restart, in another process, or by another call. */
  #linkTo({ trace: accepted }: Pick<TracedRecord, 'trace'>): void {
    if (accepted === undefined || accepted === this.record || accepted === this.#linkedTo) return
    this.#linkedTo = accepted
    const target = fromTraceparent(accepted)
    if (target) this.#span.addLink({ context: target })
  }

  endAttempt(summary: AttemptSummary): void {
    const attributes = outcomeAttributes(summary)
    this.#attempt?.setAttributes(attributes)
    if (attributes['error.type'] !== undefined) this.#attempt?.setStatus({ code: SpanStatusCode.ERROR })
    this.#attempt?.end()
    this.#attempt = undefined
  }

  addEvent(name: string, attributes: Attributes): void {
    this.#span.addEvent(name, attributes)
  }

  settle({ status, effect, reason, attempts, replayed, mayHaveRepeated }: Settled): void {
    this.#span.setAttributes({
      'holdfast.status': status,
      'holdfast.effect': effect,
      'holdfast.attempts': attempts,
      'holdfast.replayed': replayed,
      ...(reason === undefined ? {} : { 'holdfast.reason': reason }),
      ...(mayHaveRepeated ? { 'holdfast.may_have_repeated': true } : {}),
    })
    if (status !== 'succeeded') this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  /** Do its caller or its resume still wait for it? A run goes on after the caller that began it has left. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  endWith(result: Promise<unknown>, operation: { readonly key: string }): void {
    result.then(
      (value) => quietly(() => this.#end(operation, errorIn(value))),
      (error: unknown) => quietly(() => this.#end(operation, { error })),
    )
  }

  #end({ key }: { readonly key: string }, failure: { readonly error: unknown } | undefined): void {
    const { running } = this.#terms
    this.#isEnded = true
    if (!this.#attempt && running.get(key) === this) running.delete(key)
    this.#span.setAttributes(this.#keyAttribute(key))
    if (failure) this.#fail(failure.error)
    // The event that says so is another process's where the work was done there.
    else if (this.#by === 'call') this.#span.setAttribute('holdfast.status', 'succeeded')
    this.#span.end()
  }

  #fail(error: unknown): void {
    this.#span.setAttributes(errorAttributes(error))
    // The text of an error of the caller's own, such as the reason of an abort, may hold anything.
    const message = isHoldfastError(error) ? error.message : undefined
    this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
  }
}

function resendAttribute(number: number): Attributes {
  return number > 1 ? { 'http.request.resend_count': number - 1 } : {}
}

interface Traceable {
  readonly headers: HeaderList
}

/** The same transport, in a context and with further headers. */
function sendingIn<T extends Sender>(active: Context, transport: T, headers: HeaderList): T {
  const inner = transport as unknown as { send(request: Traceable): unknown }
  const send = (request: Traceable): unknown => {
    const others = request.headers.filter(([name]) => !headers.some(([taken]) => taken === name))
    return context.with(active, () => inner.send({ ...request, headers: [...others, ...headers] }))
  }
  return { ...transport, send }
}

function errorIn(value: unknown): { readonly error: unknown } | undefined {
  return typeof value === 'object' && value !== null && 'error' in value ? { error: value.error } : undefined
}

function errorAttributes(error: unknown): Attributes {
  if (!isHoldfastError(error)) return { 'error.type': error instanceof Error ? error.name : '_OTHER' }
  return {
    'error.type': error.code,
    'holdfast.effect': error.effect,
    'holdfast.attempts': error.attempts.at(-1)?.number ?? 0,
    ...(error.reason === undefined ? {} : { 'holdfast.reason': error.reason }),
    ...(error.pending ? { 'holdfast.status': 'pending' } : {}),
  }
}
