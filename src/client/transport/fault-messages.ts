import type { Judgement } from './fault-codes.ts'

/**
 * Where fetch gives no code, its message is all there is. Each platform has its own words; error reporters append the
 * host in brackets, so only the beginning is compared.
 */
const NETWORK_MESSAGES: readonly string[] = [
  'failed to fetch', // Chrome
  'network error', // Chrome, while reading a body
  'networkerror when attempting to fetch resource', // Firefox
  'error in input stream', // Firefox, while reading a body
  'load failed', // Safari 17
  'the internet connection appears to be offline', // Safari 16, and the four below
  'the network connection was lost',
  'a server with the specified hostname could not be found',
  'could not connect to the server',
  'the request timed out',
  'network request failed', // React Native and polyfills
  'error sending request', // Deno
  'error reading a body from connection', // Deno
  'client error (', // Deno
  'unable to connect', // Bun
  'the socket connection was closed unexpectedly', // Bun
  'was there a typo in the url or port?', // Bun
  'network connection lost', // Cloudflare Workers
  'internal error; reference =', // Cloudflare Workers
  'fetch failed', // undici
  'terminated', // undici, while reading a body
  'other side closed', // undici
]

/** What fetch refuses before it sends. */
const REFUSED_MESSAGES: readonly string[] = ['bad port', 'unknown scheme', 'failed to parse url', 'invalid url']

/** Redirects that fetch would not follow: the first server has seen the request. */
const REDIRECT_MESSAGES: Readonly<Record<string, Judgement>> = {
  'unexpected redirect': { code: 'redirect-refused', mayHaveArrived: true, transient: false },
  'redirect count exceeded': { code: 'too-many-redirects', mayHaveArrived: true, transient: true },
  'url scheme must be a http(s) scheme': { code: 'bad-redirect', mayHaveArrived: true, transient: true },
}

export function judgeMessage(message: string): Judgement | undefined {
  const text = message.trim().toLowerCase()
  const redirect = REDIRECT_MESSAGES[text]
  if (redirect) return redirect
  if (REFUSED_MESSAGES.some((start) => text.startsWith(start))) {
    return { code: 'invalid-request', mayHaveArrived: false, transient: false }
  }
  if (!NETWORK_MESSAGES.some((start) => text.startsWith(start))) return undefined
  return { code: 'network', mayHaveArrived: true, transient: true }
}
