import { type Clock, systemClock } from '../../foundation/clock.ts'
import { newRunnerId } from '../../foundation/identity.ts'
import { LifeSign } from './life-sign.ts'
import type { Coordination, Hint } from './port.ts'
import { listen, onWakeUp } from './wake-sources.ts'

const CHANNEL = 'holdfast'
const PREFIX = 'holdfast:tab:'
/** In an older list a tab may be missing that has come back to work since. */
const FRESH_MS = 1000

/** What this needs of a page or a worker. */
export type TabScope = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
  readonly navigator?: { readonly onLine?: boolean; readonly locks?: LockManager } | undefined
  readonly document?: Document | undefined
  readonly BroadcastChannel?: typeof BroadcastChannel | undefined
}

/** For a simulation: time and a name of its own. */
export interface TabTerms {
  readonly clock?: Clock
  readonly runnerId?: string
}

/**
 * The tabs and workers of one origin. A tab's owner is the name of a Web Lock that it holds while it has leases: an
 * owner without its lock is closed, crashed or in the back/forward cache, and may be succeeded at once. It may be
 * wrong, in the moment in which a page comes back; then the lease's epoch keeps the two apart.
 */
export function tabNeighbours(scope: TabScope = globalThis as unknown as TabScope, terms: TabTerms = {}): Coordination {
  return new TabNeighbours(scope, terms)
}

class TabNeighbours implements Coordination {
  readonly owner: string
  readonly #scope: TabScope
  readonly #clock: Clock
  readonly #locks: LockManager | undefined
  readonly #sign: LifeSign | undefined
  readonly #ears = new Set<(hint: Hint) => void>()
  readonly #stops: (() => void)[]
  #channel: BroadcastChannel | undefined
  #left = false
  #asleep: { readonly worked: boolean } | undefined

  constructor(scope: TabScope, { clock = systemClock, runnerId = newRunnerId() }: TabTerms) {
    this.#scope = scope
    this.#clock = clock
    this.#locks = scope.navigator?.locks
    this.owner = this.#locks ? PREFIX + runnerId : runnerId
    this.#sign = this.#locks && new LifeSign(this.#locks, this.owner, clock)
    this.#stops = [listen(scope, 'pagehide', () => this.#hide()), listen(scope, 'pageshow', () => this.#show())]
  }

  arrive(): void {
    if (this.#left) return
    this.#listen()
    this.#sign?.give()
  }

  /** Asks the browser each time: an older list of locks knows nothing of a tab that was opened since. */
  async findDead(owners: readonly string[]): Promise<readonly string[]> {
    this.#listen()
    const tabs = owners.filter((owner) => owner !== this.owner && owner.startsWith(PREFIX))
    if (!this.#locks || tabs.length === 0) return []
    const asked = this.#clock.now()
    const alive = await LifeSign.given(this.#locks).catch(() => undefined)
    const isFresh = this.#clock.now() - asked <= FRESH_MS
    return alive && isFresh ? tabs.filter((tab) => !alive.has(tab)) : []
  }

  /** Closed, or only in the back/forward cache: no other tab can tell. */
  mayReturn(owner: string): boolean {
    return owner.startsWith(PREFIX)
  }

  isOnline(): boolean {
    return this.#scope.navigator?.onLine !== false
  }

  onWake(listener: () => void): () => void {
    this.#listen()
    return onWakeUp(this.#scope, listener)
  }

  onHint(listener: (hint: Hint) => void): () => void {
    this.#ears.add(listener)
    return () => void this.#ears.delete(listener)
  }

  hint(hint: Hint): void {
    this.#listen()
    this.#channel?.postMessage(hint)
  }

  leave(): void {
    this.#left = true
    for (const stop of this.#stops) stop()
    this.#hide()
  }

  /** With the first work, not with the client: one that only reads opens no channel. */
  #listen(): void {
    const { BroadcastChannel } = this.#scope
    if (this.#left || this.#channel || !BroadcastChannel) return
    this.#channel = new BroadcastChannel(CHANNEL)
    this.#channel.onmessage = ({ data }: MessageEvent<Partial<Hint> | null>) => {
      if (typeof data?.key === 'string') for (const ear of [...this.#ears]) ear(data as Hint)
    }
  }

  /** In the back/forward cache a lock would pass for life, and a message would throw the page out. */
  #hide(): void {
    const channel = this.#channel
    const worked = this.#sign?.given === true
    if (channel) this.#asleep = { worked }
    this.#channel = undefined
    if (!worked) {
      channel?.close()
      return
    }
    // Whoever looks before the lock is gone takes us for alive. Even a page that is being closed gets as far as this.
    void this.#sign?.end().then(() => {
      channel?.postMessage({ is: 'left', namespace: '', key: this.owner } satisfies Hint)
      channel?.close()
    })
  }

  #show(): void {
    const worked = this.#asleep?.worked
    if (this.#asleep) this.#listen()
    if (worked) this.#sign?.give()
    this.#asleep = undefined
  }
}
