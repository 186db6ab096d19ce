import { Cancellation } from '../../foundation/cancellation.ts'
import { type Clock, startTimer, takeTurn } from '../../foundation/clock.ts'
import type { ResolvedCall } from '../policy/resolved-options.ts'
import type { TransportFault, TransportOutcome } from '../transport/port.ts'
import { boundedStream } from './bounded-stream.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

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
  readonly #cancelTimer: () => void
  readonly timeoutName: 'attempt-timeout' | 'deadline'
  #ranOut = false
  #watching = false
  #onEnd: (() => void) | undefined

  constructor(engine: EngineContext, operation: LiveOperation, limits: TimeLimits) {
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
