import type { LiveOperation } from './live-operation.ts'

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

  all(): LiveOperation[] {
    return [...this.#byKey.values(), ...this.#unwritten]
  }

  get size(): number {
    return this.#byKey.size + this.#unwritten.size
  }
}
