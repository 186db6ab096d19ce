import { RESUME_TAG } from './wake-service-worker.ts'

/** As much of a client as is needed: `createClient()` gives one. */
export interface Resuming {
  resume(): Promise<{ readonly pending: number }>
}

/** As much of a service worker as is needed: its `self`. */
export type ServiceWorkerScope = Pick<EventTarget, 'addEventListener'>

interface WakingEvent extends Event {
  waitUntil(work: Promise<unknown>): void
  readonly tag?: string
  readonly data?: unknown
}

/**
 * Lets a service worker finish what pages left behind: when it becomes active, when the browser is back online
 * (Background Sync, where there is one), and when a page asks with `wakeServiceWorker()`. Call it in the first turn
 * of the worker's script, with a client on the same journal and namespace as the pages'.
 */
export function resumeInServiceWorker(client: Resuming, scope: ServiceWorkerScope = globalThis): void {
  scope.addEventListener('activate', (event) =>
    waitFor(
      event,
      client.resume().catch(() => {}),
    ),
  )
  scope.addEventListener('message', (event) => {
    if ((event as WakingEvent).data === RESUME_TAG)
      waitFor(
        event,
        client.resume().catch(() => {}),
      )
  })
  scope.addEventListener('sync', (event) => {
    if ((event as WakingEvent).tag === RESUME_TAG) waitFor(event, resumeAll(client))
  })
}

function waitFor(event: Event, work: Promise<unknown>): void {
  ;(event as WakingEvent).waitUntil(work)
}

/** A sync that fails is tried again by the browser, later. */
async function resumeAll(client: Resuming): Promise<void> {
  const { pending } = await client.resume()
  if (pending > 0) throw new Error(`${pending} operations are still pending`)
}
