/** To a host that speaks HTTP/1.1, a browser opens so many connections, for all tabs together. */
const CONNECTIONS_PER_HOST = 6
/** These carry any number of requests on one connection: HTTP/2 and HTTP/3. */
const MULTIPLEXED = /^h[23]/
/** The navigation shows which protocol the page's own server speaks, before the first request. */
const ENTRY_TYPES = ['navigation', 'resource']

/** As much of a page or a worker as is needed. */
export interface PerformanceScope {
  readonly PerformanceObserver?: typeof PerformanceObserver | undefined
}

/**
 * Which origins speak HTTP/2 or 3, from whatever the page loads: the browser shows the protocol with the timing of each
 * resource, and that of another origin only if its answer says `Timing-Allow-Origin`. Some runtimes have no such timing and
 * other limits.
 */
export class PageConnections {
  readonly #scope: PerformanceScope
  readonly #multiplexed = new Set<string>()
  #isTold: boolean | undefined

  constructor(scope: PerformanceScope = globalThis) {
    this.#scope = scope
  }

  readonly to = (origin: string): number => {
    this.#isTold ??= this.#listen()
    return !this.#isTold || this.#multiplexed.has(origin) ? Number.POSITIVE_INFINITY : CONNECTIONS_PER_HOST
  }

  /** False: nobody will tell. */
  #listen(): boolean {
    const { PerformanceObserver } = this.#scope
    const types = ENTRY_TYPES.filter((type) => PerformanceObserver?.supportedEntryTypes?.includes(type))
    if (!PerformanceObserver || !types.includes('resource')) return false
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) this.#note(entry as PerformanceResourceTiming)
    })
    for (const type of types) observer.observe({ type, buffered: true })
    return true
  }

  /** Without a protocol it was no request, or one of which this page is told nothing. */
  #note({ name, nextHopProtocol }: PerformanceResourceTiming): void {
    if (!nextHopProtocol) return
    const { origin } = new URL(name)
    if (MULTIPLEXED.test(nextHopProtocol)) this.#multiplexed.add(origin)
    else this.#multiplexed.delete(origin)
  }
}
