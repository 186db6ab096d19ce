import type { HoldfastError } from '../../errors/holdfast-error.ts'
import type { AnswerRest } from '../../protocol/stored-message.ts'
import type { Fence } from '../journal/port.ts'
import type { OperationRecord } from '../operation/record.ts'
import { discardRest, splitRest } from './answer-rest.ts'

/** Why a run is asked to stop before it is done. */
export type StopOrder =
  | { readonly because: 'cancelled'; readonly cause?: unknown }
  | { readonly because: 'lease-lost' }
  | { readonly because: 'closing' }

/** How a run ended. */
export type Finish =
  /** The record is settled. `rest` is what of the answer is not held; `cause` explains a failure. */
  | {
      readonly is: 'settled'
      readonly record: OperationRecord
      readonly rest?: AnswerRest | undefined
      readonly cause?: unknown
    }
  /** Still pending; a resume goes on with it. */
  | { readonly is: 'kept'; readonly record: OperationRecord; readonly error: HoldfastError }
  /** Another runner has it now; nothing was written. */
  | { readonly is: 'lost' }
  /** It can't be told: the journal failed, or a hook threw. */
  | { readonly is: 'broken'; readonly error: unknown }

/** An operation that this client is working on. */
export class LiveOperation {
  record: OperationRecord
  /** How many callers wait for it. */
  callers = 0
  /** The delivery to handlers, once it has begun. */
  delivered: Promise<void> | undefined
  /** While its record is being written: settles when it is durable or could not be made so. */
  onRecord: Promise<unknown> | undefined
  readonly finished: Promise<Finish>
  #rest: AnswerRest | undefined
  #finish!: (finish: Finish) => void
  #order: StopOrder | undefined
  #onStop: (() => void) | undefined
  #learned: Finish | undefined
  #news = false
  #onNews: (() => void) | undefined

  constructor(record: OperationRecord) {
    this.record = record
    this.finished = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  finish(finish: Finish): void {
    if (finish.is === 'settled') {
      if (this.callers > 0) this.#rest = finish.rest
      // A resume has no caller to read it.
      else discardRest(finish.rest)
    }
    this.#finish(finish)
  }

  /** One caller's share of the finish: an answer that is not held is split, so that each caller has its own. */
  share(finish: Finish): Finish {
    if (finish.is !== 'settled' || !this.#rest) return finish
    if (--this.callers <= 0) return { ...finish, rest: this.#rest }
    const [rest, others] = splitRest(this.#rest)
    this.#rest = others
    return { ...finish, rest }
  }

  /** What this one only waits for was finished by a run in this very client. */
  learn(finish: Finish): void {
    this.#learned = finish
    this.#onStop?.()
  }

  get learned(): Finish | undefined {
    return this.#learned
  }

  /** The first order stands. */
  stop(order: StopOrder): void {
    if (this.#order) return
    this.#order = order
    this.#onStop?.()
  }

  get stopOrder(): StopOrder | undefined {
    return this.#order
  }

  /** After a lease was lost and taken anew, the run may go on. */
  resetStop(): void {
    if (this.#order?.because === 'lease-lost') this.#order = undefined
  }

  /** What to do the moment a stop is ordered: end the attempt, end the wait. One listener at a time. */
  whenStopped(listener: (() => void) | undefined): void {
    this.#onStop = listener
    if (this.#order || this.#learned) listener?.()
  }

  /** There is news of it. Who pauses for news looks at once; who does not yet, looks when it would begin to. */
  nudge(): void {
    this.#news = true
    this.#onNews?.()
  }

  /** What to do the moment there is news. Whoever stops listening goes and looks. */
  whenNews(listener: (() => void) | undefined): void {
    this.#onNews = listener
    if (!listener) this.#news = false
    else if (this.#news) listener()
  }

  /** Proves the right to write. */
  get fence(): Fence {
    const { namespace, key, lease } = this.record
    return { namespace, key, owner: lease?.owner ?? '', epoch: lease?.epoch ?? -1 }
  }
}
