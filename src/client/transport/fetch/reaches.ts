import { urlParts } from '../../../foundation/parsed-url.ts'
import type { FetchLike } from '../../options.ts'

/**
 * Asks for the head of what is at this URL, without its query, cookies and headers. Without CORS, too: any answer will do,
 * and of other origins none can be read. A failure may be what a service worker answers when there is no network.
 */
export async function reaches(fetch: FetchLike, url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { origin, pathname } = urlParts(url)
    const init = { method: 'HEAD', mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal } as const
    return (await fetch(origin + pathname, init)).status < 500
  } catch {
    return false
  }
}
