import type { TabScope } from '../../src/client/coordination/tab-peers.ts'

/** The locks of one origin, as a browser keeps them: granted at once, gone with the page. */
export class FakeLocks {
  readonly #holders = new Set<{ readonly name: string; readonly tab: FakeTab }>()

  of(tab: FakeTab): LockManager {
    const request = async (name: string, callback: () => Promise<void>): Promise<void> => {
      const holder = { name, tab }
      this.#holders.add(holder)
      await callback()
      this.#holders.delete(holder)
    }
    const query = async (): Promise<LockManagerSnapshot> => ({ held: this.held.map((name) => ({ name })), pending: [] })
    return { request, query } as LockManager
  }

  get held(): string[] {
    return [...this.#holders].map(({ name }) => name)
  }

  crash(tab: FakeTab): void {
    for (const holder of this.#holders) if (holder.tab === tab) this.#holders.delete(holder)
  }
}

/** As much of a page as its neighbours can tell. */
export class FakeTab extends EventTarget implements TabScope {
  readonly navigator: { onLine: boolean; locks?: LockManager }
  readonly document: Document
  readonly BroadcastChannel: typeof BroadcastChannel | undefined
  readonly #document = Object.assign(new EventTarget(), { visibilityState: 'visible' })

  constructor(locks?: FakeLocks, channel?: typeof BroadcastChannel) {
    super()
    this.navigator = { onLine: true, ...(locks && { locks: locks.of(this) }) }
    this.BroadcastChannel = channel
    this.document = this.#document as unknown as Document
  }

  say(type: string, more: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), more))
  }

  show(visibilityState: 'visible' | 'hidden'): void {
    this.#document.visibilityState = visibilityState
    this.#document.dispatchEvent(new Event('visibilitychange'))
  }
}

/** A channel that delivers when told to, and counts who is open. */
export function fakeChannels(): { readonly Channel: typeof BroadcastChannel; readonly open: ReadonlySet<object> } {
  const open = new Set<Channel>()
  class Channel {
    onmessage: ((event: { data: unknown }) => void) | null = null
    readonly name: string
    constructor(name: string) {
      this.name = name
      open.add(this)
    }
    postMessage(data: unknown): void {
      for (const other of open) if (other !== this && other.name === this.name) other.onmessage?.({ data })
    }
    close(): void {
      open.delete(this)
    }
  }
  return { Channel: Channel as unknown as typeof BroadcastChannel, open }
}
