/** A message between runners. It only saves the time until the receiver's next poll of the journal. */
export interface PeerMessage {
  /**
   * `pending`: the operation `key` is due. `settled`: the settlement of `key` is in the journal. `left`: the runner `key`
   * has gone and may have left operations of any namespace. `forgotten`: every operation of `namespace` was dropped.
   * `level`: the containment state of the origin `key`, in `level`.
   */
  readonly is: 'pending' | 'settled' | 'left' | 'forgotten' | 'level'
  readonly namespace: string
  readonly key: string
  readonly level?: unknown
  /** Of the operation that has settled. */
  readonly lane?: string | undefined
}

/** The port to the peers: other tabs, other processes. It only ever saves time; safety is the lease's. */
export interface Coordination {
  /** Names this runner in leases. */
  readonly owner: string
  /** Called before a lease is taken and at each renewal: peers may check that this runner is alive. Never throws. */
  heartbeat?(): void
  /**
   * Those of the owners that certainly no longer run, as of a moment after this call: a live runner that had its lease
   * before is never among them. Never throws or rejects.
   */
  findDead(owners: readonly string[]): readonly string[] | Promise<readonly string[]>
  /** Can an owner that counts as dead come back with its callers, as a page from the back/forward cache does? */
  mayReturn?(owner: string): boolean
  /** May a request leave now? False if the platform says that none can: then no operation is sent. */
  isOnline?(): boolean
  /** Something has answered: the platform is taken for online until it says anew that it is offline. Wakes as `onActive`. */
  foundOnline?(): void
  /** Calls back when work is likely to get through: back online, visible, or restored from the cache. Returns how to stop. */
  onActive(listener: () => void): () => void
  /** Calls back with each message of a peer. Returns how to stop. */
  onPeerMessage?(listener: (message: PeerMessage) => void): () => void
  /**
   * How long a watch that knows of nothing due may go without a look at the journal (ms): set if peers announce the work that
   * they leave, and a look costs more than it is worth. Undefined: half a second.
   */
  readonly longestPauseMs?: number | undefined
  /** Sends a message to all peers. Never throws. */
  notifyPeers?(message: PeerMessage): void
  /** This runner ends; its leases are about to be released. */
  leave(): void
}
