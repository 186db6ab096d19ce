import type { HoldfastError } from '../../../errors/holdfast-error.ts'
import { type Clock, startTimer } from '../../../foundation/clock.ts'
import type { AnswerRest } from '../../../protocol/stored-message.ts'
import type { Fence } from '../../journal/port.ts'
import type { OperationRecord } from '../../operation/record.ts'
import { discardRest, splitRest } from './answer-rest.ts'
import type { Slot } from './slot.ts'

/** Why a run is asked to stop before it is done. */
export type StopOrder =
  | { readonly because: 'cancelled' }
  /** Its last caller has left by a signal, whose reason is the cause. */
  | { readonly because: 'abandoned'; readonly cause: unknown }
  | { readonly because: 'lease-lost' }
  /** `isOverdue`: the grace time is over, and an attempt in flight is aborted. */
  | { readonly because: 'closing'; readonly isOverdue?: true }

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
  /** The journal failed, or a hook threw. */
  | { readonly is: 'broken'; readonly error: unknown }

/** An operation that this client works on, or waits for. */
export class LiveOperation {
  record: OperationRecord
  /** Ordered by `stop`. */
  stopOrder: StopOrder | undefined
  /** This client has sent it before. */
  isTried = false
  /** Of a resume: what it holds while it is sent, and not while it waits. */
  slot: Slot | undefined
  /** A call of this client has made it; of any other, this client has only joined it. */
  isMadeHere = false
  /** How many callers wait for it. */
  callers = 0
  /** The delivery to handlers, once it has begun. */
  delivered: Promise<void> | undefined
  /** While its record is being written: settles when it is durable or could not be made so. */
  onRecord: Promise<unknown> | undefined
  readonly finished: Promise<Finish>
  #resolve!: (finish: Finish) => void
  #rest: AnswerRest | undefined
  #hasNews = false
  #listener: (() => void) | undefined

  constructor(record: OperationRecord) {
    this.record = record
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** Somebody else was promised that it is carried on: its callers here have only joined it. */
  get goesOnWithoutCallers(): boolean {
    return this.record.carriedOn && !this.isMadeHere
  }

  /** It is about to end or to be let go by order of a caller: a call from now on comes after that. */
  get isBeingLeft(): boolean {
    const because = this.stopOrder?.because
    return because === 'cancelled' || because === 'abandoned'
  }

  finish(finish: Finish): void {
    if (finish.is === 'settled' && finish.rest) {
      if (this.callers > 0) this.#rest = finish.rest
      // A resume has no caller to read it.
      else discardRest(finish.rest)
    }
    this.#resolve(finish)
  }

  /** One caller's share of the finish: an answer that is not held is split, so that each caller has its own. */
  share(finish: Finish): Finish {
    if (finish.is !== 'settled' || !this.#rest) return finish
    if (--this.callers <= 0) return { ...finish, rest: this.#rest }
    const [rest, others] = splitRest(this.#rest)
    this.#rest = others
    return { ...finish, rest }
  }

  /** The first order stands. */
  stop(order: StopOrder): void {
    if (this.stopOrder) return
    this.stopOrder = order
    this.#listener?.()
  }

  /** The grace time of the client that closes is over. */
  stopOverdue(): void {
    if (this.stopOrder?.because !== 'closing') return
    this.stopOrder = { because: 'closing', isOverdue: true }
    this.#listener?.()
  }

  /** After a lease was lost and taken anew, the run may go on. */
  resetStop(): void {
    if (this.stopOrder?.because === 'lease-lost') this.stopOrder = undefined
  }

  /** Another runner has changed the record, or the network is back. Latched: news before a wait ends the next wait. */
  notify(): void {
    this.#hasNews = true
    this.#listener?.()
  }

  /** Called when a stop is ordered or there is news, at once where that is so already. One listener at a time. */
  listen(listener: (() => void) | undefined): void {
    this.#listener = listener
    if (this.stopOrder || this.#hasNews) listener?.()
  }

  /** Waits. A stop order ends it early; so does news where the caller looks for news after the wait. */
  pause(clock: Clock, ms: number, endedBy: 'stop' | 'news' = 'stop'): Promise<void> {
    const paused = this.#pause(clock, ms, endedBy)
    return this.slot ? this.#withoutSlot(this.slot, paused) : paused
  }

  async #withoutSlot(slot: Slot, paused: Promise<void>): Promise<void> {
    slot.release()
    await paused
    await slot.take()
  }

  #pause(clock: Clock, ms: number, endedBy: 'stop' | 'news'): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancelTimer()
        this.#listener = undefined
        if (endedBy === 'news') this.#hasNews = false
        resolve()
      }
      const cancelTimer = startTimer(clock, Math.max(0, ms), end)
      this.listen(() => {
        if (this.stopOrder || (endedBy === 'news' && this.#hasNews)) end()
      })
    })
  }

  /** Proves the right to write. */
  get fence(): Fence {
    const { namespace, key, lease } = this.record
    return { namespace, key, owner: lease?.owner ?? '', epoch: lease?.epoch ?? -1 }
  }
}

/** A caller whose call has not ended. */
export interface Waiting {
  readonly ended: Promise<unknown>
  /** Leaves if there is a reason to: the client closes, or its namespace was forgotten. */
  leaveIfRefused(): void
}

/** Everything that this client works on or waits for right now. */
export class LiveOperations {
  /** Calls from their first moment on; `flush` waits for them. */
  readonly callers = new Set<Waiting>()
  /** Waiting here for what other runners work on. */
  readonly followers = new Set<LiveOperation>()
  /** Waiting here for their turn in a lane, the one that has waited longest first. */
  readonly inLanes = new Set<LiveOperation>()
  readonly #byKey = new Map<string, LiveOperation>()
  readonly #keyOfId = new Map<string, string>()
  /** Calls that are not journaled: not to be joined or found, but running. */
  readonly #unwritten = new Set<LiveOperation>()
  /** Keys of calls with an id that have not become operations yet: two of them in one tick share a key. */
  readonly #reserved = new Map<string, { readonly key: string; users: number }>()

  #epoch = 0

  /** The first epoch of a new operation: no two new operations of one owner share a fence. */
  nextEpoch(): number {
    this.#epoch++
    return this.#epoch
  }

  add(operation: LiveOperation): void {
    const { key, id } = operation.record
    this.#byKey.set(key, operation)
    if (id !== undefined) this.#keyOfId.set(id, key)
  }

  addUnwritten(operation: LiveOperation): void {
    this.#unwritten.add(operation)
  }

  remove(operation: LiveOperation): void {
    if (this.#unwritten.delete(operation)) return
    const { key, id } = operation.record
    if (this.#byKey.get(key) !== operation) return
    this.#byKey.delete(key)
    if (id !== undefined && this.#keyOfId.get(id) === key) this.#keyOfId.delete(id)
  }

  byKey(key: string): LiveOperation | undefined {
    return this.#byKey.get(key)
  }

  byId(id: string | undefined): LiveOperation | undefined {
    const key = id === undefined ? undefined : this.#keyOfId.get(id)
    return key === undefined ? undefined : this.#byKey.get(key)
  }

  find(keyOrId: string): LiveOperation | undefined {
    return this.byId(keyOrId) ?? this.byKey(keyOrId)
  }

  /** The key for a call with this id: that of the operation or of the call that has it already. */
  reserveKey(id: string, newKey: () => string): string {
    const reserved = this.#reserved.get(id) ?? { key: this.byId(id)?.record.key ?? newKey(), users: 0 }
    reserved.users++
    this.#reserved.set(id, reserved)
    return reserved.key
  }

  releaseKey(id: string): void {
    const reserved = this.#reserved.get(id)
    if (reserved && --reserved.users === 0) this.#reserved.delete(id)
  }

  /** Another runner, or another run of this client, has settled it. */
  notifyFollowers(key: string): void {
    for (const follower of this.followers) if (follower.record.key === key) follower.notify()
  }

  /** An operation of this lane has settled: it may be the turn of the next one. */
  notifyLane(lane: string | undefined): void {
    const next = lane !== undefined && [...this.inLanes].find(({ record }) => record.lane === lane)
    if (next) next.notify()
  }

  /** Another operation of the same lane, whose request is on its way from here. */
  sendingInLaneOf({ record: { key, lane, lease } }: LiveOperation): LiveOperation | undefined {
    for (const operation of this.#byKey.values()) {
      const other = operation.record
      const isSending = other.inFlightSince !== undefined && other.lease?.owner === lease?.owner
      if (isSending && other.lane === lane && other.key !== key) return operation
    }
    return undefined
  }

  all(): LiveOperation[] {
    return [...this.#byKey.values(), ...this.#unwritten]
  }

  get size(): number {
    return this.#byKey.size + this.#unwritten.size
  }
}
