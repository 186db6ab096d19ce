/** A page or a worker; workers have no document. */
type ActivityScope = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
  readonly document?: Document | undefined
}

/** Calls back on coming online, on becoming visible and on leaving the back/forward cache. Returns how to stop. */
export function onPageActive(scope: ActivityScope, listener: () => void): () => void {
  const { document } = scope
  const onVisible = (): void => {
    if (document?.visibilityState === 'visible') listener()
  }
  const onShow = (event: Event): void => {
    // A first load is not a return: the client has only just started.
    if ((event as PageTransitionEvent).persisted) listener()
  }
  const stops = [
    listen(scope, 'online', listener),
    listen(scope, 'pageshow', onShow),
    ...(document ? [listen(document, 'visibilitychange', onVisible)] : []),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

export function listen(
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  type: string,
  listener: (event: Event) => void,
): () => void {
  target.addEventListener(type, listener)
  return () => target.removeEventListener(type, listener)
}
