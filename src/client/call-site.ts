import { isHoldfastError } from '../errors/holdfast-error.ts'

const marked = new WeakSet<object>()

/**
 * The frames of the program for the error of one call. An error is made long after its call, from a timer or a socket, and
 * its own stack has no frame of the program: error trackers would take all failures for one. To capture a stack at each
 * call costs some microseconds, so a call that succeeds pays only if its `then` was called by the program.
 */
export class CallSite {
  #isFirstTurn = true
  #handledAt: Captured

  constructor() {
    queueMicrotask(() => {
      this.#isFirstTurn = false
    })
  }

  /**
   * To be called by `then`. `await` calls it as well, but later, from a job without any frames: V8 knows the functions that
   * await a promise at the time when it is rejected.
   */
  capture(below: Inner): void {
    if (this.#isFirstTurn) this.#handledAt ??= stackBelow(below)
  }

  /**
   * To be called while the promise that the caller has is being rejected. What is not our error, such as the reason of an
   * abort, stays as it is.
   */
  readonly rethrow = (error: unknown): never => {
    if (isHoldfastError(error)) append(error, this.#handledAt ?? stackBelow(this.rethrow))
    throw error
  }

  /** For an error whose own stack has the functions that await it. */
  addTo<E extends Error>(error: E): E {
    append(error, this.#handledAt)
    return error
  }
}

type Inner = (...args: never) => unknown
type Captured = { readonly stack?: string } | undefined

function stackBelow(below: Inner): Captured {
  if (!Error.captureStackTrace) return undefined
  const captured = {}
  Error.captureStackTrace(captured, below)
  return captured
}

function append(error: Error, captured: Captured): void {
  // Read here and not before: V8 formats a stack when it is read.
  const stack = captured?.stack ?? ''
  const frames = stack.slice(stack.indexOf('\n') + 1)
  if (!frames.includes(' at ') || marked.has(error)) return
  marked.add(error)
  Object.defineProperty(error, 'stack', { value: `${error.stack}\n${frames}`, configurable: true, writable: true })
}
