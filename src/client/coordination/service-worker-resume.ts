/** The tag of the sync event, and the message with the same meaning. */
const RESUME_TAG = 'holdfast'

/** As much of a client as is needed: `createClient()` gives one. */
export interface Resuming {
  resume(): Promise<{ readonly pending: number }>
}

/** As much of a service worker as is needed: its `self`. */
export type ServiceWorkerScope = Pick<EventTarget, 'addEventListener'>

interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
  readonly tag?: string
  readonly data?: unknown
}

/**
 * Lets a service worker finish operations that pages left pending: when it becomes active, when the browser is back
 * online (Background Sync, where there is one), and when a page calls `wakeServiceWorker()`. Call it in the
 * first turn of the worker's script, with a client on the same journal and namespace as the pages'.
 */
export function resumeInServiceWorker(client: Resuming, scope: ServiceWorkerScope = globalThis): void {
  scope.addEventListener('activate', (event) =>
    keepRunning(
      event,
      client.resume().catch(() => {}),
    ),
  )
  scope.addEventListener('message', (event) => {
    if ((event as WorkerEvent).data === RESUME_TAG)
      keepRunning(
        event,
        client.resume().catch(() => {}),
      )
  })
  scope.addEventListener('sync', (event) => {
    if ((event as WorkerEvent).tag === RESUME_TAG) keepRunning(event, resumeAll(client))
  })
}

/** Without it the browser may stop the worker in the middle of a request. */
function keepRunning(event: Event, work: Promise<unknown>): void {
  ;(event as WorkerEvent).waitUntil(work)
}

/** The browser repeats a sync that fails, later. */
async function resumeAll(client: Resuming): Promise<void> {
  const { pending } = await client.resume()
  if (pending > 0) throw new Error(`${pending} operations are still pending`)
}

interface Registration {
  readonly active?: { postMessage(message: unknown): void } | null
  /** Background Sync; not every browser has it. */
  readonly sync?: { register(tag: string): Promise<void> }
}

/**
 * In a page: asks the service worker to resume once the browser is online, even after this page is closed. Without
 * Background Sync the worker resumes now. False where there is no service worker; pages resume on their own anyway.
 */
export async function wakeServiceWorker(
  container: { getRegistration(): Promise<object | undefined> } | undefined = globalThis.navigator?.serviceWorker,
): Promise<boolean> {
  try {
    const registration = (await container?.getRegistration()) as Registration | undefined
    if (!registration?.sync) return postResume(registration)
    await registration.sync.register(RESUME_TAG).catch(() => postResume(registration))
    return true
  } catch {
    return false
  }
}

function postResume(registration: Registration | undefined): boolean {
  registration?.active?.postMessage(RESUME_TAG)
  return registration?.active != null
}
