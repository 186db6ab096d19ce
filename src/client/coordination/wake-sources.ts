/** What a page or a worker can be woken by. Parts of it are missing in workers. */
type Source = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
  readonly document?: Document | undefined
}

/** Calls back on coming online, to the front, or back out of the back/forward cache. Returns how to stop. */
export function onWakeUp(scope: Source, listener: () => void): () => void {
  const { document } = scope
  const onVisible = (): void => {
    if (document?.visibilityState === 'visible') listener()
  }
  const onShow = (event: Event): void => {
    // At a first load there is nobody to wake yet.
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
