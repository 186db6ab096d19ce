/** What a neighbour may want to know at once rather than at its next look. */
export interface Hint {
  /**
   * `pending`: there is something to resume, now. `settled`: its end is in the journal. `left`: a runner, whose name is the
   * key, has gone and may have left operations of any namespace. `level`: the state of an origin, whose name is the key, in
   * `level`.
   */
  readonly is: 'pending' | 'settled' | 'left' | 'level'
  readonly namespace: string
  readonly key: string
  readonly level?: unknown
}

/** The seam to the neighbours: other tabs, other processes. It only ever saves time; safety is the lease's. */
export interface Coordination {
  /** Names this runner in leases. */
  readonly owner: string
  /** A lease is about to be taken, or still held: from now on neighbours may ask whether this runner is alive. Never throws. */
  arrive?(): void
  /**
   * Those of the owners that certainly no longer run, as of a moment after this was asked: a runner that had its lease
   * before is never among them while it lives. Never throws or rejects.
   */
  findDead(owners: readonly string[]): readonly string[] | Promise<readonly string[]>
  /** Can an owner that counts as dead come back with its callers, as a page from the back/forward cache does? */
  mayReturn?(owner: string): boolean
  /** May a request leave now? False only where the platform is certain that none can: then none is tried. */
  isOnline?(): boolean
  /** Calls back when it is worth looking for work at once: coming online or back to the front. Returns how to stop. */
  onWake(listener: () => void): () => void
  /** Calls back with the neighbours' hints. Returns how to stop. */
  onHint?(listener: (hint: Hint) => void): () => void
  /** Passes a hint on to the neighbours. Never throws. */
  hint?(hint: Hint): void
  /** This runner ends; its leases are about to be released. */
  leave(): void
}
