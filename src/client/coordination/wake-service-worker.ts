/** The tag of the sync event, and the message that says the same. */
export const RESUME_TAG = 'holdfast'

interface Registration {
  readonly active?: { postMessage(message: unknown): void } | null
  /** Background Sync; not every browser has it. */
  readonly sync?: { register(tag: string): Promise<void> }
}

/**
 * In a page: asks the service worker to resume, once the browser is online, also after this page is closed. Where
 * there is no Background Sync, it asks now. False where nobody could be asked; then pages resume as they always do.
 */
export async function wakeServiceWorker(
  container: { getRegistration(): Promise<object | undefined> } | undefined = globalThis.navigator?.serviceWorker,
): Promise<boolean> {
  try {
    const registration = (await container?.getRegistration()) as Registration | undefined
    if (!registration?.sync) return tell(registration)
    await registration.sync.register(RESUME_TAG).catch(() => tell(registration))
    return true
  } catch {
    return false
  }
}

function tell(registration: Registration | undefined): boolean {
  registration?.active?.postMessage(RESUME_TAG)
  return registration?.active != null
}
