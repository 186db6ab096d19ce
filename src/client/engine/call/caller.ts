import type { AttemptSummary, OperationRef } from '../../../errors/holdfast-error.ts'
import { abortReason, onAbort } from '../../../foundation/abort.ts'
import { startTimer } from '../../../foundation/clock.ts'
import { waitFor } from '../../../foundation/wait.ts'
import type { AnswerRest, StoredResponse } from '../../../protocol/stored-message.ts'
import type { DurabilityLevel } from '../../journal/port.ts'
import { errorForCall, settledError, type Unrecorded, unrecordedError } from '../../operation/outcome.ts'
import type { Engine } from '../engine.ts'
import { cancelLive } from '../recover/stored-operations.ts'
import type { Finish, LiveOperation, Waiting } from '../run/live-operation.ts'
import type { Call } from './call.ts'

/** A final answer, before it is read as a `Response`. */
export interface Answer {
  readonly response: StoredResponse
  /** What of the answer is not held. Can be taken once. */
  readonly rest: AnswerRest | undefined
  readonly operation: OperationRef
  readonly attempts: readonly AttemptSummary[]
}

/** What a handle shows. */
export interface HandleSource {
  readonly key: string
  readonly id: string | undefined
  readonly accepted: Promise<DurabilityLevel>
  readonly answer: Promise<Answer>
  /** How much of the answer `json`, `text` and `bytes` take into memory. */
  readonly maxReadBytes: number
  /** The caller's. */
  readonly signal?: AbortSignal | undefined
  cancel(): Promise<void>
  /** The answer is waited for only once it is asked for; until then no failure has to be noticed. */
  readonly isLazy?: boolean
}

export interface CallerTerms {
  readonly call: Call
  readonly signal: AbortSignal | undefined
  /** What can be said of the call before the journal has spoken. */
  readonly unrecorded: Unrecorded
}

/**
 * One caller, from the call to its answer. It may leave at any time: by its signal, its deadline, a cancel, or with the
 * client. Until there is an operation, a body that never ends or a journal that never opens holds it no longer than that.
 */
export class Caller implements HandleSource, Waiting {
  readonly call: Call
  readonly signal: AbortSignal | undefined
  readonly unrecorded: Unrecorded
  answer!: Promise<Answer>
  readonly #engine: Engine
  readonly #forgets: number
  #operation: LiveOperation | undefined
  #level: DurabilityLevel | undefined
  #onAccepted: ((level: DurabilityLevel) => void) | undefined
  #accepted: Promise<DurabilityLevel> | undefined
  #isCancelled = false
  #leave: (() => void) | undefined

  constructor(engine: Engine, { call, signal, unrecorded }: CallerTerms) {
    const trace = engine.options.telemetry?.traceCall(unrecorded, call)
    this.call = trace ? { ...call, trace } : call
    this.signal = signal
    this.unrecorded = unrecorded
    this.#engine = engine
    this.#forgets = engine.upkeep.forgets
  }

  get maxReadBytes(): number {
    return this.#engine.options.maxReadBytes
  }

  /** Goes the way in, and waits for the finish. */
  start(enter: (caller: Caller) => Promise<Finish>): HandleSource {
    const { callers } = this.#engine.live
    callers.add(this)
    let entered: Promise<Finish>
    try {
      entered = enter(this)
    } catch (error) {
      entered = Promise.reject(error)
    }
    this.answer = entered.then(
      (finish) => {
        callers.delete(this)
        return answerOf(finish, this.unrecorded)
      },
      (error: unknown) => {
        callers.delete(this)
        throw errorForCall(error, this.unrecorded)
      },
    )
    this.call.trace?.endWith(this.answer, this)
    return this
  }

  get key(): string {
    return this.#operation?.record.key ?? this.unrecorded.operation.key
  }

  get id(): string | undefined {
    return this.#operation?.record.id ?? this.unrecorded.operation.id
  }

  get ended(): Promise<unknown> {
    return this.answer
  }

  /** Where nothing could be accepted, it rejects with the reason. */
  get accepted(): Promise<DurabilityLevel> {
    this.#accepted ??= new Promise((resolve, reject) => {
      if (this.#level !== undefined) return resolve(this.#level)
      this.#onAccepted = resolve
      this.answer.catch(reject)
    })
    return this.#accepted
  }

  /** The record is durable at this level. */
  accept(level: DurabilityLevel): void {
    this.#level = level
    this.#onAccepted?.(level)
  }

  /** From now on the caller waits for this operation, which may be one that was there before. */
  join(operation: LiveOperation): void {
    this.#operation = operation
    if (this.#isCancelled) operation.stop({ because: 'cancelled' })
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true
    if (this.#operation) await cancelLive(this.#engine, this.#operation)
    else this.leaveIfRefused()
    await this.answer.catch(() => {})
  }

  /** What `work` gives, unless the caller leaves before. */
  until<T>(work: Promise<T>): Promise<T> {
    const refusal = this.#refusal()
    if (refusal) {
      work.catch(() => {})
      return Promise.reject(refusal.error)
    }
    const { clock } = this.#engine
    return waitFor(work, (end) => {
      const leave = (): void => {
        const why = this.#refusal()
        if (why) end(() => Promise.reject(why.error))
      }
      this.#leave = leave
      const stopListening = onAbort(this.signal, leave)
      // The time is over also if the machine's clock was set back meanwhile.
      const late = (): void => {
        const error = this.#refusal()?.error ?? unrecordedError(this.unrecorded, LATE)
        end(() => Promise.reject(error))
      }
      const cancelTimer = startTimer(clock, this.call.deadline.leftMs, late)
      return () => {
        this.#leave = undefined
        stopListening()
        cancelTimer()
      }
    })
  }

  leaveIfRefused(): void {
    this.#leave?.()
  }

  /** Nothing is written or sent for a caller that has left already, or whose time is up. */
  refuse(): void {
    const refusal = this.#refusal()
    if (refusal) throw refusal.error
  }

  #refusal(): { readonly error: unknown } | undefined {
    const { signal, unrecorded } = this
    const { closing, upkeep } = this.#engine
    if (signal?.aborted) return { error: abortReason(signal) }
    if (closing.aborted) return { error: unrecordedError(unrecorded, CLOSED) }
    // What the caller named may be there from before: the journal is asked first, then it is cancelled there.
    const isCancelled = this.#isCancelled && !unrecorded.named
    if (isCancelled || upkeep.forgets !== this.#forgets) return { error: unrecordedError(unrecorded, ABORTED) }
    return this.call.deadline.isOver ? { error: unrecordedError(unrecorded, LATE) } : undefined
  }
}

const CLOSED = { reason: 'aborted', because: 'this client was closed', code: 'HOLDFAST_CLOSED' } as const
const ABORTED = { reason: 'aborted' } as const
const LATE = { reason: 'deadline' } as const

/** What a caller gets of a finish: the answer of a success, else a throw. */
export function answerOf(finish: Finish, unrecorded?: Unrecorded): Answer {
  switch (finish.is) {
    case 'settled': {
      const { record, rest, cause } = finish
      if (record.status !== 'succeeded') throw settledError(record, { cause, rest })
      const { key, id, name, attempts } = record
      return { response: record.response ?? EMPTY, rest, operation: { key, id, name }, attempts }
    }
    case 'kept':
      throw finish.error
    case 'broken':
      throw unrecorded ? errorForCall(finish.error, unrecorded) : finish.error
    case 'lost':
      throw new TypeError('A lost operation is followed before it is answered')
  }
}

/** A success without its response: `reconcile` knew of it. */
const EMPTY: StoredResponse = {
  status: 200,
  statusText: '',
  headers: [],
  body: null,
  bodyOmitted: true,
  url: '',
  redirected: false,
}
