import { globalFetch, isCandid, seenFetch } from '../../../foundation/own-fetch.ts'
import type { FetchLike } from '../../options.ts'

/** A wrapper or a Proxy has other text, a bound function this text or another name: each may send a request more than once. */
const NATIVE = /^function fetch\(\)\s*\{\s*\[native code\]\s*\}$/

/** Is it the fetch of the browser or the runtime itself, which is taken to send a request once? */
export function isNativeFetch(fetch: FetchLike): boolean {
  if (isCandid(fetch)) return true
  const called = fetch === globalFetch ? seenFetch() : fetch
  return called?.name === 'fetch' && NATIVE.test(Function.prototype.toString.call(called))
}
