import type { LiveOperation } from './live-operation.ts'

/** Everything of the journal that this client is working on right now, by key and by id, which are two different names. */
export class LiveOperations {
  readonly #byKey = new Map<string, LiveOperation>()
  readonly #keyOfId = new Map<string, string>()
  /** Calls that are not journaled; nobody joins or finds them, but they are running. */
  readonly #unwritten = new Set<LiveOperation>()

  add(operation: LiveOperation): void {
    const { key, id } = operation.record
    this.#byKey.set(key, operation)
    if (id !== undefined) this.#keyOfId.set(id, key)
  }

  addUnwritten(operation: LiveOperation): void {
    this.#unwritten.add(operation)
  }

  remove(operation: LiveOperation): void {
    this.#unwritten.delete(operation)
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

  all(): LiveOperation[] {
    return [...this.#byKey.values(), ...this.#unwritten]
  }

  get size(): number {
    return this.#byKey.size + this.#unwritten.size
  }
}
