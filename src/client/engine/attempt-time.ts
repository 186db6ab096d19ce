import { onAbort } from '../../foundation/abort.ts'
import { Cancellation } from '../../foundation/cancellation.ts'
import { type Clock, startBackgroundTimer, startTimer, takeTurn } from '../../foundation/clock.ts'
import type { ResolvedCall } from '../policy/resolved-options.ts'
import type { TransportFault, TransportOutcome } from '../transport/port.ts'
import { boundedStream } from './bounded-stream.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/** A signal that outlives the answers it can end lets go of those that are gone. */
const unreadAnswers = new FinalizationRegistry<() => void>((stop) => stop())

/** What a wait gives that ran out of time. */
export const TIMED_OUT = Symbol('timed out')

export interface TimeLimits {
  readonly deadlineAt: number
  readonly call: Pick<ResolvedCall, 'attemptTimeoutMs'>
}

/** The time of one attempt: a timer, the stop order, and one signal for both. */
export class AttemptTime {
  readonly signal = new Cancellation()
  readonly #clock: Clock
  readonly #operation: LiveOperation
  readonly #deadlineAt: number
  #cancelTimer: () => void
  timeoutName: 'attempt-timeout' | 'deadline'
  #ranOut = false
  #watching = false
  #onEnd: (() => void) | undefined

  constructor(engine: EngineContext, operation: LiveOperation, limits: TimeLimits) {
    this.#clock = engine.clock
    this.#operation = operation
    this.#deadlineAt = limits.deadlineAt
    const left = limits.deadlineAt - engine.clock.now()
    this.timeoutName = left < limits.call.attemptTimeoutMs ? 'deadline' : 'attempt-timeout'
    this.#cancelTimer = this.#startTimer(Math.min(left, limits.call.attemptTimeoutMs), startTimer)
    // A client that is closing lets what is on its way come home.
    operation.whenStopped(() => operation.stopOrder?.because !== 'closing' && this.#abort())
  }

  #startTimer(ms: number, start: typeof startTimer): () => void {
    if (ms === Number.POSITIVE_INFINITY) return () => {}
    return start(this.#clock, ms, () => {
      this.#ranOut = true
      this.#abort(new DOMException(`No whole answer in time (${this.timeoutName})`, 'TimeoutError'))
    })
  }

  #abort(reason?: unknown): void {
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

  /** A stream may last: the attempt timeout ends with the head of the answer, the deadline does not. */
  #keepDeadlineOnly(start: typeof startTimer): void {
    this.#cancelTimer()
    this.timeoutName = 'deadline'
    this.#cancelTimer = this.#startTimer(this.#deadlineAt - this.#clock.now(), start)
  }

  /** An event stream is read for as long as the deadline lets it. */
  watchEvents(rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    this.#keepDeadlineOnly(startTimer)
    return this.watch(rest)
  }

  /**
   * The caller gets the platform's own `Response`, which does not tell when it was read to its end: the deadline and the
   * caller's signal, which can still end it, keep neither the process alive nor the answer in memory.
   */
  handOver(response: Response, signal: AbortSignal | undefined): void {
    this.#keepDeadlineOnly(startBackgroundTimer)
    this.#watching = true
    this.#operation.whenStopped(undefined)
    const stop = onAbort(signal, () => this.#abort(signal?.reason))
    if (response.body) unreadAnswers.register(response.body, stop)
    else stop()
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
