// Cuts this tab off from the network, as far as the page can tell. Being really offline works just as well.

const realFetch = globalThis.fetch.bind(globalThis)

/** For looking over the server's shoulder: not cut off with the shop. */
export const outsideFetch = realFetch

export function cutNetwork() {
  globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'))
  Object.defineProperty(navigator, 'onLine', { configurable: true, value: false })
  dispatchEvent(new Event('offline'))
}

export function restoreNetwork() {
  globalThis.fetch = realFetch
  delete navigator.onLine
  if (navigator.onLine) dispatchEvent(new Event('online'))
}
