/**
 * What an AbortController with its signal does, for the hot path: making one costs next to nothing, and a platform's
 * own signal is made only where a fetch needs one.
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

  abort(reason: unknown = defaultAbortReason()): void {
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

/** A platform's signal, or our own that costs less. */
export type AbortLike = AbortSignal | Cancellation

/** The platform's own signal, for a fetch, which takes no other. */
export function nativeSignal(signal: AbortLike): AbortSignal {
  return signal instanceof Cancellation ? signal.signal : signal
}

/** The reason an aborted signal carries; a signal without one gets the platform's own AbortError. */
export function abortReason(signal: AbortLike): unknown {
  return signal.reason === undefined ? defaultAbortReason() : signal.reason
}

function defaultAbortReason(): DOMException {
  return new DOMException('This operation was aborted', 'AbortError')
}

/** All listeners of one signal: thousands of calls may share it, and it has a single listener of ours all the same. */
interface Audience {
  readonly listeners: Set<() => void>
  readonly callAll: () => void
}

const audiences = new WeakMap<AbortSignal, Audience>()

/**
 * Runs `listener` when the signal aborts (at once if it already has) and returns how to stop listening.
 * Every listener the library adds goes through here, so that none can be forgotten on a shared signal.
 */
export function onAbort(signal: AbortLike | undefined, listener: () => void): () => void {
  if (!signal) return () => {}
  if (signal instanceof Cancellation) return signal.listen(listener)
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const audience = audiences.get(signal) ?? newAudience(signal)
  // A function of its own, so that the same listener given twice is called twice.
  const own = (): void => listener()
  audience.listeners.add(own)
  return () => {
    audience.listeners.delete(own)
    if (audience.listeners.size > 0 || audiences.get(signal) !== audience) return
    audiences.delete(signal)
    signal.removeEventListener('abort', audience.callAll)
  }
}

function newAudience(signal: AbortSignal): Audience {
  const listeners = new Set<() => void>()
  const callAll = (): void => {
    audiences.delete(signal)
    for (const listener of [...listeners]) if (listeners.delete(listener)) listener()
  }
  const audience = { listeners, callAll }
  audiences.set(signal, audience)
  signal.addEventListener('abort', callAll, { once: true })
  return audience
}
