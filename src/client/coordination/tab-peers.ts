import { type Clock, systemClock } from '../../foundation/clock.ts'
import { newRunnerId } from '../../foundation/identity.ts'
import { LivenessLock } from './liveness-lock.ts'
import { listen, onPageActive } from './page-activity.ts'
import type { Coordination, PeerMessage } from './port.ts'

const CHANNEL = 'holdfast'
const PREFIX = 'holdfast:tab:'
/** A list of locks that took longer (ms) may miss a tab that has taken its lock since. */
const FRESH_MS = 1000

/** An idle tab that looks more often keeps a core awake, and there may be thirty of them. */
const IDLE_PAUSE_MS = 5000

/** What this needs of a page or a worker. */
export type TabScope = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
  readonly navigator?: { readonly onLine?: boolean; readonly locks?: LockManager } | undefined
  readonly document?: Document | undefined
  readonly BroadcastChannel?: typeof BroadcastChannel | undefined
}

/** A simulation brings its own time and names. */
export interface TabTerms {
  readonly clock?: Clock
  readonly runnerId?: string
}

/**
 * The tabs and workers of one origin. A tab's owner is the name of a Web Lock that it holds while it has leases: an
 * owner without its lock is closed, crashed or in the back/forward cache, and another tab may take over at once. The
 * check can be wrong at the moment a page comes back; then the lease's epoch fences one of the two.
 */
export function tabPeers(scope: TabScope = globalThis as unknown as TabScope, terms: TabTerms = {}): Coordination {
  return new TabPeers(scope, terms)
}

class TabPeers implements Coordination {
  readonly owner: string
  readonly longestPauseMs: number | undefined
  readonly #scope: TabScope
  readonly #clock: Clock
  readonly #locks: LockManager | undefined
  readonly #lock: LivenessLock | undefined
  readonly #listeners = new Set<(message: PeerMessage) => void>()
  /** All share the listeners on the page. */
  readonly #wakers = new Set<() => void>()
  #stopWaking = (): void => {}
  readonly #stops: (() => void)[]
  #channel: BroadcastChannel | undefined
  #left = false
  #isFoundOnline = false
  #hidden: { readonly hadLock: boolean } | undefined

  constructor(scope: TabScope, { clock = systemClock, runnerId = newRunnerId() }: TabTerms) {
    this.#scope = scope
    this.#clock = clock
    this.longestPauseMs = scope.BroadcastChannel && IDLE_PAUSE_MS
    this.#locks = scope.navigator?.locks
    this.owner = this.#locks ? PREFIX + runnerId : runnerId
    this.#lock = this.#locks && new LivenessLock(this.#locks, this.owner, clock)
    this.#stops = [
      listen(scope, 'pagehide', () => this.#hide()),
      listen(scope, 'pageshow', () => this.#show()),
      listen(scope, 'offline', () => {
        this.#isFoundOnline = false
      }),
    ]
  }

  heartbeat(): void {
    if (this.#left) return
    this.#openChannel()
    this.#lock?.hold()
  }

  /** Lists the locks each time: an older list misses a tab that was opened since. */
  async findDead(owners: readonly string[]): Promise<readonly string[]> {
    this.#openChannel()
    const tabs = owners.filter((owner) => owner !== this.owner && owner.startsWith(PREFIX))
    if (!this.#locks || tabs.length === 0) return []
    const askedAt = this.#clock.now()
    const alive = await LivenessLock.names(this.#locks).catch(() => undefined)
    const isFresh = this.#clock.now() - askedAt <= FRESH_MS
    return alive && isFresh ? tabs.filter((tab) => !alive.has(tab)) : []
  }

  /** Without its lock, a tab is closed or in the back/forward cache: the list of locks does not say which. */
  mayReturn(owner: string): boolean {
    return owner.startsWith(PREFIX)
  }

  isOnline(): boolean {
    return this.#isFoundOnline || this.#scope.navigator?.onLine !== false
  }

  foundOnline(): void {
    this.#isFoundOnline = true
    this.#wake()
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake()
  }

  onActive(listener: () => void): () => void {
    this.#openChannel()
    const waker = (): void => listener()
    if (this.#wakers.size === 0) this.#stopWaking = onPageActive(this.#scope, () => this.#wake())
    this.#wakers.add(waker)
    return () => {
      if (this.#wakers.delete(waker) && this.#wakers.size === 0) this.#stopWaking()
    }
  }

  onPeerMessage(listener: (message: PeerMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  notifyPeers(message: PeerMessage): void {
    this.#openChannel()
    this.#channel?.postMessage(message)
  }

  leave(): void {
    this.#left = true
    for (const stop of this.#stops) stop()
    this.#hide()
  }

  /** Opened with the first work, not with the client: a client that only reads opens no channel. */
  #openChannel(): void {
    const { BroadcastChannel } = this.#scope
    if (this.#left || this.#channel || !BroadcastChannel) return
    this.#channel = new BroadcastChannel(CHANNEL)
    this.#channel.onmessage = ({ data }: MessageEvent<Partial<PeerMessage> | null>) => {
      if (typeof data?.key !== 'string') return
      for (const listener of [...this.#listeners]) listener(data as PeerMessage)
    }
  }

  /** In the back/forward cache a held lock would count as alive, and a message would evict the page. */
  #hide(): void {
    const channel = this.#channel
    const hadLock = this.#lock?.isHeld === true
    if (channel) this.#hidden = { hadLock }
    this.#channel = undefined
    if (!hadLock) {
      channel?.close()
      return
    }
    // Sent after the release: a peer that checks earlier takes this tab for alive. A page that closes gets this far.
    void this.#lock?.release().then(() => {
      channel?.postMessage({ is: 'left', namespace: '', key: this.owner } satisfies PeerMessage)
      channel?.close()
    })
  }

  #show(): void {
    const hadLock = this.#hidden?.hadLock
    if (this.#hidden) this.#openChannel()
    if (hadLock) this.#lock?.hold()
    this.#hidden = undefined
  }
}
