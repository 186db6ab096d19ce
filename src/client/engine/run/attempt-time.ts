import { Cancellation, onAbort } from '../../../foundation/abort.ts'
import { type Clock, startBackgroundTimer, startTimer, takeTurn } from '../../../foundation/clock.ts'
import { waitFor } from '../../../foundation/wait.ts'
import type { TransportFault, TransportOutcome } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import { boundedStream } from './answer-rest.ts'
import type { LiveOperation } from './live-operation.ts'

/** A signal that outlives the answers it can end lets go of those that are gone: nothing here may hold one of them. */
const unreadAnswers = new FinalizationRegistry<() => void>((stop) => stop())
/** What ends an answer lives as long as the answer. */
const endOf = new WeakMap<ReadableStream, Cancellation>()

/** What a wait gives that ran out of time. */
export const TIMED_OUT = Symbol('timed out')

export interface AttemptStart {
  readonly call: Call
  /** The answer comes as a stream. The returned function is called when that has ended, or nobody can read it any more. */
  readonly onStream: () => () => void
}

/** For a status that is retried anyway: its head has said all. */
const RETRIED_BODY_MS = 1000
/** For any other that is no success: its body may say why. */
const FINAL_BODY_MS = 5000

const LOST = { kind: 'fault', code: 'aborted', mayHaveArrived: true, transient: true, cause: undefined } as const

/** The time of one attempt: a timer, the stop order, and one signal for both. */
export class AttemptTime {
  readonly signal = new Cancellation()
  readonly #clock: Clock
  readonly #operation: LiveOperation
  readonly #call: Call
  readonly #onStream: AttemptStart['onStream']
  #cancelTimer: () => void
  timeoutName: 'attempt-timeout' | 'deadline'
  #ranOut = false
  #isSent = false
  #isWatching = false

  constructor(clock: Clock, operation: LiveOperation, { call, onStream }: AttemptStart) {
    this.#clock = clock
    this.#operation = operation
    this.#call = call
    this.#onStream = onStream
    const left = call.deadline.leftMs
    const { attemptTimeoutMs } = call.limits
    this.timeoutName = left < attemptTimeoutMs ? 'deadline' : 'attempt-timeout'
    this.#cancelTimer = this.#startTimer(Math.min(left, attemptTimeoutMs), startTimer)
    operation.listen(() => this.#onStop())
  }

  /** A client that is closing lets an attempt that was sent come home within its grace time. */
  #onStop(): void {
    const order = this.#operation.stopOrder
    const isAwaited = order?.because === 'closing' && !order.isOverdue && this.#isSent
    if (order && !isAwaited) this.signal.abort()
  }

  #startTimer(ms: number, start: typeof startTimer): () => void {
    if (ms === Number.POSITIVE_INFINITY) return () => {}
    return start(this.#clock, ms, () => {
      this.#ranOut = true
      this.signal.abort(new DOMException(`No whole answer in time (${this.timeoutName})`, 'TimeoutError'))
    })
  }

  /** The value, or TIMED_OUT: a hook that never settles can't hold an attempt beyond its time. */
  bound<T>(value: Promise<T>): Promise<T | typeof TIMED_OUT> {
    return waitFor<T | typeof TIMED_OUT>(value, (end) => this.signal.listen(() => end(() => TIMED_OUT)))
  }

  /** The transport's outcome. One that ignores its signal gets a moment after the abort, then counts as lost. */
  outcome(sent: Promise<TransportOutcome>): Promise<TransportOutcome> {
    this.#isSent = true
    return new Promise((resolve, reject) => {
      this.signal.listen(() => {
        void takeTurn(this.#clock).then(() => resolve(LOST))
      })
      sent.then(resolve, reject)
    })
  }

  /** How long the body of an answer that is no success is waited for: a server that stalls must not hold the caller. */
  readonly boundBody = (status: number, cut: () => void): (() => void) => {
    const { statuses } = this.#call.limits.retry
    return startTimer(this.#clock, statuses.has(status) ? RETRIED_BODY_MS : FINAL_BODY_MS, cut)
  }

  /** A fault that our own timer caused is called after it. */
  fault(fault: TransportFault): TransportFault {
    return this.#ranOut ? { ...fault, code: this.timeoutName } : fault
  }

  /** A stream may last: the attempt timeout ends with the head of the answer, the deadline does not. */
  #keepDeadlineOnly(start: typeof startTimer): void {
    this.#cancelTimer()
    this.timeoutName = 'deadline'
    this.#cancelTimer = this.#startTimer(this.#call.deadline.leftMs, start)
  }

  /** An event stream is read for as long as the deadline lets it. */
  watchEvents(rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    this.#keepDeadlineOnly(startTimer)
    return this.watch(rest)
  }

  /**
   * The caller gets the platform's own `Response`, which does not show when it was read to its end: the deadline and the
   * caller's signal, which can still end it, keep neither the process alive nor the answer in memory.
   */
  handOver(response: Response, signal: AbortSignal | undefined): void {
    this.#keepDeadlineOnly(startBackgroundTimer)
    this.#isWatching = true
    this.#operation.listen(undefined)
    if (!response.body) return
    endOf.set(response.body, this.signal)
    const end = new WeakRef(this.signal)
    const stop = onAbort(signal, () => end.deref()?.abort(signal?.reason))
    unreadAnswers.register(response.body, stop)
  }

  /** The time goes on while a large answer is being read. */
  watch(rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    this.#isWatching = true
    const end = this.#onStream()
    const stream = boundedStream(rest, this.signal, () => {
      this.#cancelTimer()
      end()
    })
    unreadAnswers.register(stream, end)
    return stream
  }

  end(): void {
    if (this.#isWatching) return
    this.#cancelTimer()
    this.#operation.listen(undefined)
  }
}
