import { type Attributes, context, ROOT_CONTEXT } from '@opentelemetry/api'
import type { HoldfastEvent, Sender, TracedCall, TracedRecord, WorkTrace } from '../port.ts'
import { fromTraceparent } from './traceparent.ts'
import { type SpanTerms, WorkSpan } from './work-span.ts'

/** In place of a span that could not be made. */
export const UNTRACED: WorkTrace = {
  record: undefined,
  attempt: <T extends Sender>(transport: T): T => transport,
  endWith: () => {},
}

/** The spans of calls and resumes, and which of them the events of an operation are about. */
export class OperationSpans {
  readonly #terms: SpanTerms
  /** By key: those that make the attempts. */
  readonly running = new Map<string, WorkSpan>()

  constructor(terms: Omit<SpanTerms, 'running'>) {
    this.#terms = { ...terms, running: this.running }
  }

  /** A child of the caller's active span. */
  ofCall({ method, operation }: TracedCall, { keyed }: { readonly keyed: boolean }): WorkSpan {
    const { tracer, attributes: shared } = this.#terms
    const parent = context.active()
    const attributes = { ...shared, ...operationAttributes(operation) }
    const span = tracer.startSpan(spanName(operation.name ?? method), { attributes }, parent)
    return new WorkSpan(this.#terms, { span, parent, keyed, by: 'call' })
  }

  /** The root of a trace of its own, linked to the one in which the operation was accepted. */
  ofResume(record: TracedRecord): WorkSpan {
    const { tracer, attributes: shared } = this.#terms
    const accepted = fromTraceparent(record.trace)
    const options = {
      attributes: { ...shared, ...operationAttributes(record), 'holdfast.resumed': true },
      links: accepted ? [{ context: accepted }] : [],
    }
    const span = tracer.startSpan(spanName(record.name ?? record.request.method), options, ROOT_CONTEXT)
    const work = new WorkSpan(this.#terms, { span, parent: ROOT_CONTEXT, keyed: true, by: 'resume' }, record.trace)
    // It may settle without an attempt: at its horizon.
    this.running.set(record.key, work)
    return work
  }

  take(event: HoldfastEvent): void {
    if (!('operation' in event)) return
    const { key } = event.operation
    const work = this.running.get(key)
    if (!work) return
    if (event.type === 'attempt.ended') work.endAttempt(event.attempt)
    if (event.type === 'operation.waiting') work.addEvent(event.type, { 'holdfast.reason': event.reason })
    if (event.type === 'lease.lost') work.addEvent(event.type, {})
    if (event.type === 'operation.settled') work.settle(event)
    const isOver = event.type === 'operation.settled' || (event.type === 'attempt.ended' && work.isEnded)
    if (isOver) this.running.delete(key)
  }
}

function spanName(what: string): string {
  return `holdfast ${what}`
}

function operationAttributes({ id, name }: Pick<TracedRecord, 'id' | 'name'>): Attributes {
  return {
    ...(id === undefined ? {} : { 'holdfast.operation.id': id }),
    ...(name === undefined ? {} : { 'holdfast.operation.name': name }),
  }
}
