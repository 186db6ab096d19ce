/**
 * What an AbortController with its signal does, for the hot path: making one costs next to nothing, and a
 * platform's own signal is made only where somebody (a fetch) needs one.
 */
export class Cancellation {
  #aborted = false
  #reason: unknown
  #listeners: (() => void)[] | undefined
  #controller: AbortController | undefined

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    this.#controller?.abort(reason)
    for (const listener of listeners) listener()
  }

  /** Calls back once when it is aborted, at once if it already is. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    if (this.#aborted) {
      listener()
      return () => {}
    }
    this.#listeners ??= []
    this.#listeners.push(listener)
    return () => {
      const index = this.#listeners?.indexOf(listener) ?? -1
      if (index >= 0) this.#listeners?.splice(index, 1)
    }
  }

  /** The platform's own. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }
}
