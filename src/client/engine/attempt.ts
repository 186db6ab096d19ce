import { Cancellation } from '../../foundation/cancellation.ts'
import { type Clock, startTimer, takeTurn } from '../../foundation/clock.ts'
import { redactError, redactUrl } from '../../observe/redact.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { readProblem, readRefusal } from '../../protocol/problem-details.ts'
import { toResponse } from '../../protocol/stored-message.ts'
import type { ClientOptions } from '../options.ts'
import type { AttemptFacts } from '../policy/classify.ts'
import type { ResolvedCall } from '../policy/resolved-options.ts'
import type { TransportFault, TransportOutcome, TransportResponse } from '../transport/port.ts'
import { type AttemptTerms, attemptHeaders, clientHeaders, trustsOrigin } from './attempt-headers.ts'
import { boundBody } from './bound-body.ts'
import { boundedStream, discard } from './bounded-stream.ts'
import type { EngineContext } from './engine-context.ts'
import { lacksCredentials } from './lacks-credentials.ts'
import type { LiveOperation } from './live-operation.ts'

export interface AttemptLimits {
  readonly deadlineAt: number
  readonly call: ResolvedCall
  readonly redirect: 'follow' | 'error' | 'manual'
}

/** How one attempt ended. */
export interface AttemptResult {
  readonly facts: AttemptFacts
  readonly response?: TransportResponse | undefined
  /** A short stable word where there was no usable answer. */
  readonly fault?: string | undefined
  readonly cause?: unknown
  /** A hook of the caller's threw: which one. Not the network's fault, so never retried. */
  readonly hook?: 'headers' | 'accept' | undefined
}

/** One attempt: headers made afresh, sent, answered or not, within its own time. Never rejects. */
export async function attempt(
  engine: EngineContext,
  operation: LiveOperation,
  { terms, limits }: { readonly terms: AttemptTerms; readonly limits: AttemptLimits },
): Promise<AttemptResult> {
  if (lacksCredentials(engine.options, operation.record, terms.credentials)) return credentialsMissing(operation)
  const time = new AttemptTime(engine, operation, limits)
  try {
    const made = makeHeaders(engine, operation, { terms, time })
    const own = made instanceof Promise ? await made : made
    if (own instanceof HookFailure) return hookResult(own.cause)
    if (own === TIMED_OUT || time.signal.aborted) return faultResult(time.fault(notSent()))
    // Frozen while the headers were made: somebody else may have the operation by now. The next write finds out.
    if (engine.leases.hasLapsed(operation)) return faultResult({ ...notSent(), code: 'lease-lapsed' })
    const { record } = operation
    const outcome = await time.outcome(
      engine.transport.send({
        method: record.request.method,
        url: terms.credentials?.url ?? record.request.url,
        headers: attemptHeaders(engine.options, record, { own, terms }),
        body: record.request.body,
        signal: time.signal,
        bodyLimit: engine.options.maxResponseBytes,
        boundBody: boundBody(engine.clock, limits.call.retry.statuses),
        redirect: limits.redirect,
        publicHeaders: record.request.headers,
        trusts: (origin) => origin === record.request.origin || trustsOrigin(engine.options, origin),
      }),
    )
    return await judge(time, outcome, limits.call.accept)
  } finally {
    time.end()
  }
}

class HookFailure {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}
type Made = HeaderList | typeof TIMED_OUT | HookFailure

/** The client's headers for this attempt, or how their function failed. */
function makeHeaders(
  engine: EngineContext,
  operation: LiveOperation,
  { terms, time }: { readonly terms: AttemptTerms; readonly time: AttemptTime },
): Made | Promise<Made> {
  try {
    const made = clientHeaders(engine.options, operation.record, terms)
    if (!(made instanceof Promise)) return made
    return time.bound(made).catch((cause: unknown) => new HookFailure(cause))
  } catch (cause) {
    return new HookFailure(cause)
  }
}

function hookResult(cause: unknown): AttemptResult {
  const facts = { ...NOT_SENT, transient: false }
  return { facts, fault: 'headers-hook', cause: redactError(cause), hook: 'headers' }
}

const NOT_SENT = { is: 'fault', mayHaveArrived: false, transient: true, headStatus: undefined } as const

function notSent(): TransportFault {
  return { kind: 'fault', code: 'aborted', mayHaveArrived: false, transient: true, cause: undefined }
}

async function judge(
  time: AttemptTime,
  outcome: TransportOutcome,
  accept: ClientOptions['accept'],
): Promise<AttemptResult> {
  if (outcome.kind === 'response') return judgeAnswer(time, showable(outcome), accept)
  const head = headOf(outcome)
  // In no time `accept` can't be asked.
  return head ? judgeAnswer(time, head, time.signal.aborted ? undefined : accept) : faultResult(time.fault(outcome))
}

/** Who reads it later need not be who called: no secret stays in its URL. */
function showable(answer: TransportResponse): TransportResponse {
  return answer.url.includes('?') ? { ...answer, url: redactUrl(answer.url) } : answer
}

async function judgeAnswer(
  time: AttemptTime,
  outcome: TransportResponse,
  accept: ClientOptions['accept'],
): Promise<AttemptResult> {
  const { status, headers } = outcome
  // A redirect that a browser hides has no status to show.
  if (accept && status > 0) {
    const refused = await refusal(time, outcome, accept)
    if (refused) return refused
  }
  const { redirected, body } = outcome
  // Servers of other make say in plain JSON that a key was used for something else.
  const problem = status === 422 ? readRefusal(headers, body) : readProblem(headers, body)
  const response = outcome.rest ? { ...outcome, rest: time.watch(outcome.rest) } : outcome
  return { facts: { is: 'answer', status, headers, problem, redirected }, response }
}

/** An answer that the caller's own check refuses is not the API speaking: as good as no answer. */
async function refusal(
  time: AttemptTime,
  outcome: TransportResponse,
  accept: NonNullable<ClientOptions['accept']>,
): Promise<AttemptResult | undefined> {
  const facts = { is: 'fault', mayHaveArrived: true, transient: true, headStatus: undefined } as const
  try {
    const accepted = await time.bound(Promise.resolve(accept(toResponse({ ...outcome, bodyOmitted: false }))))
    if (accepted === true) return undefined
    discard(outcome.rest)
    return { facts, fault: accepted === TIMED_OUT ? time.timeoutName : 'not-accepted' }
  } catch (cause) {
    discard(outcome.rest)
    return { facts: { ...facts, transient: false }, fault: 'accept-hook', cause, hook: 'accept' }
  }
}

/** What is not a success speaks by its head alone; that its body was lost changes nothing. */
function headOf({ head }: TransportFault): TransportResponse | undefined {
  if (!head || (head.status >= 200 && head.status < 300)) return undefined
  return { kind: 'response', ...head, statusText: '', body: null, url: '', redirected: false }
}

function faultResult(fault: TransportFault): AttemptResult {
  const { mayHaveArrived, transient, lasting, code } = fault
  const facts = { is: 'fault', mayHaveArrived, transient, lasting, headStatus: fault.head?.status } as const
  return { facts, fault: code, cause: redactError(fault.cause) }
}

/** Told like headers that could not be made: nothing was sent, and another attempt would not mend it. */
function credentialsMissing({ record }: LiveOperation): AttemptResult {
  const cause = new Error(
    `It was called with credentials (${record.request.withheld.join(', ')}), which are never written down: call again with its id or key, and with them`,
  )
  return { facts: { ...NOT_SENT, transient: false }, fault: 'credentials-missing', cause, hook: 'headers' }
}

const TIMED_OUT = Symbol('timed out')

/** The time of one attempt: a timer, the stop order, and one signal for both. */
class AttemptTime {
  readonly signal = new Cancellation()
  readonly #clock: Clock
  readonly #operation: LiveOperation
  readonly #cancelTimer: () => void
  readonly timeoutName: 'attempt-timeout' | 'deadline'
  #ranOut = false
  #watching = false
  #onEnd: (() => void) | undefined

  constructor(engine: EngineContext, operation: LiveOperation, limits: AttemptLimits) {
    this.#clock = engine.clock
    this.#operation = operation
    const left = limits.deadlineAt - engine.clock.now()
    this.timeoutName = left < limits.call.attemptTimeoutMs ? 'deadline' : 'attempt-timeout'
    this.#cancelTimer = startTimer(engine.clock, Math.min(left, limits.call.attemptTimeoutMs), () => {
      this.#ranOut = true
      this.#abort(new DOMException(`No whole answer in time (${this.timeoutName})`, 'TimeoutError'))
    })
    // A client that is closing lets what is on its way come home.
    operation.whenStopped(() => operation.stopOrder?.because !== 'closing' && this.#abort())
  }

  #abort(reason?: DOMException): void {
    this.signal.abort(reason)
    this.#onEnd?.()
  }

  /** The value, or TIMED_OUT: a hook that never settles can't hold an attempt beyond its time. */
  bound<T>(value: Promise<T>): Promise<T | typeof TIMED_OUT> {
    return this.#firstOf<T, typeof TIMED_OUT>(value, () => TIMED_OUT)
  }

  /** The transport's outcome. One that ignores its signal gets a moment after the abort, then counts as lost. */
  outcome(sent: Promise<TransportOutcome>): Promise<TransportOutcome> {
    return this.#firstOf(sent, async () => {
      await takeTurn(this.#clock)
      return { kind: 'fault', code: 'aborted', mayHaveArrived: true, transient: true, cause: undefined }
    })
  }

  #firstOf<T, U>(value: Promise<T>, otherwise: () => U | Promise<U>): Promise<T | U> {
    return new Promise((resolve, reject) => {
      this.#onEnd = () => void Promise.resolve(otherwise()).then(resolve)
      if (this.signal.aborted) this.#onEnd()
      value.then(resolve, reject)
    })
  }

  /** A fault that our own timer caused is called after it. */
  fault(fault: TransportFault): TransportFault {
    return this.#ranOut ? { ...fault, code: this.timeoutName } : fault
  }

  /** The time goes on while a large answer is being read. */
  watch(rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    this.#watching = true
    return boundedStream(rest, this.signal, () => this.#cancelTimer())
  }

  end(): void {
    this.#onEnd = undefined
    if (this.#watching) return
    this.#cancelTimer()
    this.#operation.whenStopped(undefined)
  }
}
