import type { TestBrowser } from '../support/launch.ts'

/**
 * Lets the browser wake an origin's service worker with a sync event, as it does when it finds itself online. It is
 * asked through a page that has nothing to do with the origin, so that all of the origin's may be closed.
 */
export async function syncEvents(browser: TestBrowser, tag = 'holdfast'): Promise<(origin: string) => Promise<void>> {
  const session = await browser.context.newCDPSession(await browser.newPage())
  const registrations = new Map<string, string>()
  session.on('ServiceWorker.workerRegistrationUpdated', (update) => {
    for (const { scopeURL, registrationId } of update.registrations)
      registrations.set(new URL(scopeURL).origin, registrationId)
  })
  await session.send('ServiceWorker.enable')
  return async (origin) => {
    const registrationId = registrations.get(origin)
    if (registrationId === undefined) throw new Error(`${origin} has no service worker`)
    await session.send('ServiceWorker.dispatchSyncEvent', { origin, registrationId, tag, lastChance: false })
  }
}
