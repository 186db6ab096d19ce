import type { Coordination } from '../../client/coordination/port.ts'
import { type TabScope, tabPeers } from '../../client/coordination/tab-peers.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** A Web Lock, from the moment that it is asked for: a tab that only waits for its own lock lives as well. */
interface HeldLock {
  readonly name: string
  readonly process: SimulatedProcess
}

/** One page: its process, and its ears on the channel. */
interface Page {
  readonly process: SimulatedProcess
  readonly scope: EventTarget
  readonly channels: Set<SimulatedChannel>
}

/** The browser around the tabs of one origin: locks, messages, what is online, the back/forward cache. */
export class SimulatedBrowser {
  readonly #world: World
  readonly #locks = new Set<HeldLock>()
  readonly #pages: Page[] = []
  #offlineUntil = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The real coordination of tabs, in a page of this browser. */
  coordinationOf(process: SimulatedProcess): Coordination {
    const page: Page = { process, scope: new EventTarget(), channels: new Set() }
    this.#pages.push(page)
    const { clock, name } = process
    return tabPeers(this.#scopeOf(page), { clock, runnerId: name })
  }

  get isOnline(): boolean {
    return this.#world.calm || this.#world.timeline.now >= this.#offlineUntil
  }

  goOffline(ms: number): void {
    const { timeline, plan } = this.#world
    if (plan.platform !== 'tabs') return
    this.#world.happened('offline')
    this.#world.say('browser', `is offline for ${ms} ms`)
    this.#offlineUntil = Math.max(this.#offlineUntil, timeline.now + ms)
    timeline.at(this.#offlineUntil, () => this.#fireOnline())
  }

  #fireOnline(): void {
    if (!this.isOnline) return
    for (const { process, scope } of this.#pages) process.later(0, () => scope.dispatchEvent(new Event('online')))
  }

  /** Into the back/forward cache: the page gets `pagehide`, stands still, and comes back. */
  hide(process: SimulatedProcess, ms: number): void {
    const page = this.#pages.find((one) => one.process === process)
    // A hidden page can't be hidden again.
    if (!page || process.thawsAt > this.#world.timeline.now) return
    this.#world.happened('page-hidden')
    this.#world.say(process.name, `is hidden for ${ms} ms`)
    this.#world.oracle.roster.hides(process, ms)
    page.scope.dispatchEvent(new Event('pagehide'))
    // What a page does about being hidden still happens before it stands still.
    this.#world.timeline.at(this.#world.timeline.now + PAGEHIDE_MS, () => {
      process.freeze(ms)
      process.later(0, () => page.scope.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
    })
  }

  #scopeOf(page: Page): TabScope {
    const browser = this
    const { scope } = page
    return {
      addEventListener: (...call: Parameters<EventTarget['addEventListener']>) => scope.addEventListener(...call),
      removeEventListener: (...call: Parameters<EventTarget['removeEventListener']>) =>
        scope.removeEventListener(...call),
      navigator: {
        get onLine() {
          return browser.isOnline
        },
        locks: this.#lockManagerOf(page.process) as unknown as LockManager,
      },
      BroadcastChannel: this.#channelClassOf(page) as unknown as typeof BroadcastChannel,
    }
  }

  #lockManagerOf(process: SimulatedProcess): Pick<LockManager, 'query'> & { request: RequestLock } {
    const world = this.#world
    const wait = (ms: number): Promise<void> => new Promise((resolve) => process.later(ms, resolve))
    return {
      request: async (name, work) => {
        const lock: HeldLock = { name, process }
        this.#locks.add(lock)
        await wait(1)
        await work()
        await wait(1)
        this.#locks.delete(lock)
      },
      query: async () => {
        const held = [...this.#locks].filter((lock) => lock.process.alive).map(({ name }) => ({ name }))
        await wait(world.strikes('locks-slow') ? world.dice('locks').between(50, 8000) : 1)
        if (world.strikes('locks-unknown')) throw new Error('The locks cannot be listed')
        return { held, pending: [] }
      },
    }
  }

  #channelClassOf(page: Page): new () => SimulatedChannel {
    const deliver = (from: SimulatedChannel, data: unknown): void => this.#deliver(from, data)
    return class extends SimulatedChannel {
      constructor() {
        super(page, deliver)
      }
    }
  }

  #deliver(from: SimulatedChannel, data: unknown): void {
    const world = this.#world
    for (const { process, channels } of this.#pages) {
      for (const channel of channels) {
        if (channel === from) continue
        const ms = world.strikes('messages-slow') ? world.dice('messages').between(50, 20_000) : 1
        process.later(ms, () => channel.hear(data))
      }
    }
  }
}

type RequestLock = (name: string, work: () => Promise<void>) => Promise<void>

/** Long enough to release a lock and to send a message. */
const PAGEHIDE_MS = 5

class SimulatedChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  readonly #page: Page
  readonly #deliver: (from: SimulatedChannel, data: unknown) => void

  constructor(page: Page, deliver: (from: SimulatedChannel, data: unknown) => void) {
    this.#page = page
    this.#deliver = deliver
    page.channels.add(this)
  }

  postMessage(data: unknown): void {
    if (this.#page.process.alive) this.#deliver(this, data)
  }

  hear(data: unknown): void {
    if (this.#page.channels.has(this)) this.onmessage?.({ data })
  }

  close(): void {
    this.#page.channels.delete(this)
  }
}
