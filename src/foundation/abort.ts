/** The reason an aborted signal carries; a signal without one gets the platform's own AbortError. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError')
}

/**
 * Runs `listener` when the signal aborts (at once if it already has) and returns how to stop listening.
 * Every listener the library adds goes through here, so that none can be forgotten on a shared signal.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {}
  if (signal.aborted) {
    listener()
    return () => {}
  }
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}
