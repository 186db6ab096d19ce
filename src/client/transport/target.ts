import type { HeaderList } from '../../protocol/headers.ts'
import type { TransportRequest } from './port.ts'

/** One request of an exchange: the first, or what a redirect made of it. */
export interface Target {
  readonly method: string
  readonly url: URL
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  /** How many redirects led here. */
  readonly redirects: number
}

/** What fetch refuses before it sends, it throws. The message leaves the URL out: it may hold a secret. */
export function firstTarget({ method, url: text, headers, body }: TransportRequest): Target {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('The URL is not an HTTP URL')
  if (url.username || url.password) throw new TypeError('The URL must not hold credentials')
  return { method, headers, body, url, redirects: 0 }
}

/** As a response has it: without the fragment. */
export function finalUrl({ url }: Target): string {
  return url.hash ? url.href.slice(0, -url.hash.length) : url.href
}
