import { Cancellation } from './cancellation.ts'

/** A signal of the platform's, or our own that costs less. */
export type AbortLike = AbortSignal | Cancellation

/** The platform's own signal, for who takes no other. */
export function nativeSignal(signal: AbortLike): AbortSignal {
  return signal instanceof Cancellation ? signal.signal : signal
}

/** The reason an aborted signal carries; a signal without one gets the platform's own AbortError. */
export function abortReason(signal: AbortLike): unknown {
  return signal.reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : signal.reason
}

/** Who waits for a signal: thousands of calls may share one, and it has a single listener of ours all the same. */
interface Audience {
  readonly waiting: Set<() => void>
  readonly tellAll: () => void
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
  const audience = audiences.get(signal) ?? gather(signal)
  // Of its own, so that the same function given twice is told twice.
  const told = (): void => listener()
  audience.waiting.add(told)
  return () => {
    audience.waiting.delete(told)
    if (audience.waiting.size > 0 || audiences.get(signal) !== audience) return
    audiences.delete(signal)
    signal.removeEventListener('abort', audience.tellAll)
  }
}

function gather(signal: AbortSignal): Audience {
  const waiting = new Set<() => void>()
  const tellAll = (): void => {
    audiences.delete(signal)
    for (const tell of [...waiting]) if (waiting.delete(tell)) tell()
  }
  const audience = { waiting, tellAll }
  audiences.set(signal, audience)
  signal.addEventListener('abort', tellAll, { once: true })
  return audience
}
