/**
 * The promises of one operation belong together: where one of them is handled, none of the others may
 * raise an unhandled rejection; where none is, exactly one must, so that no failure goes unnoticed.
 */
export class Observation {
  #observed = false
  #unnoticed: Promise<never> | undefined

  /** Somebody handles one of the promises. */
  observe(): void {
    this.#observed = true
    this.#unnoticed?.catch(() => {})
  }

  /** The operation failed: if nobody handles any of its promises, the platform reports this one. */
  fail(error: unknown): void {
    if (this.#observed || this.#unnoticed) return
    this.#unnoticed = Promise.reject(error)
  }

  /** The same promise, watched. Its own rejection is never reported by itself. */
  watch<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => {})
    return new ObservedPromise(promise, this)
  }
}

/** A promise that tells when somebody handles it. */
class ObservedPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly #promise: Promise<T>
  readonly #observation: Observation

  constructor(promise: Promise<T>, observation: Observation) {
    this.#promise = promise
    this.#observation = observation
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#observation.observe()
    return this.#promise.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    this.#observation.observe()
    return this.#promise.finally(onFinally)
  }
}
