/** One call of a handler. */
export interface HandlerCall {
  /** The handler has returned, or has called `next`. False if it had done so before. */
  goOn(): boolean
  /** The handler has returned, and its promise has settled. */
  end(): void
}

/** The handlers of a request, as far as their promises are seen. */
export class HandlersAtWork {
  #inCharge = 0
  #running = 0
  readonly #onIdle: (() => void)[] = []

  /** A handler has neither returned nor called `next`: the answer is left to it. */
  get hasOneInCharge(): boolean {
    return this.#inCharge > 0
  }

  /** A handler's promise is pending: it may be at work, whatever it has said to `next` or done to its response. */
  get areRunning(): boolean {
    return this.#running > 0
  }

  begin(): HandlerCall {
    let isInCharge = true
    this.#inCharge++
    this.#running++
    const goOn = (): boolean => {
      if (!isInCharge) return false
      isInCharge = false
      this.#inCharge--
      return true
    }
    const end = (): void => {
      goOn()
      if (--this.#running === 0) for (const call of this.#onIdle.splice(0)) call()
    }
    return { goOn, end }
  }

  /** Resolves when no promise of a handler is pending any more. */
  ended(): Promise<void> {
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }
}
