/**
 * Is this Node's own fetch? Its source text names the built-in module that it loads on first use, which nothing
 * outside of Node can load. A replacement, a wrapper, a Proxy or another runtime's fetch has other text, also when it
 * was put there before this module was loaded.
 */
export function isPlatformFetch(fetch: unknown): boolean {
  if (typeof fetch !== 'function' || fetch.name !== 'fetch') return false
  return Function.prototype.toString.call(fetch).includes("require('internal/deps/undici/undici')")
}
