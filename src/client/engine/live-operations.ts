import type { LiveOperation } from './live-operation.ts'

/** Everything that this client is working on right now, by key and by id. */
export class LiveOperations {
  readonly #byKey = new Map<string, LiveOperation>()
  readonly #keyOfId = new Map<string, string>()

  add(operation: LiveOperation): void {
    const { key, id } = operation.record
    this.#byKey.set(key, operation)
    if (id !== undefined) this.#keyOfId.set(id, key)
  }

  remove(operation: LiveOperation): void {
    const { key, id } = operation.record
    if (this.#byKey.get(key) !== operation) return
    this.#byKey.delete(key)
    if (id !== undefined) this.#keyOfId.delete(id)
  }

  find(keyOrId: string | undefined): LiveOperation | undefined {
    if (keyOrId === undefined) return undefined
    return this.#byKey.get(this.#keyOfId.get(keyOrId) ?? keyOrId)
  }

  all(): LiveOperation[] {
    return [...this.#byKey.values()]
  }

  get size(): number {
    return this.#byKey.size
  }
}
