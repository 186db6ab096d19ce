/** What a neighbour may want to know at once rather than at its next look. */
export interface Hint {
  /** `pending`: there may be something to resume. `settled`: who waits for it finds its end in the journal. */
  readonly is: 'pending' | 'settled'
  readonly namespace: string
  readonly key: string
}

/** The seam to the neighbours: other tabs, other processes. It only ever saves time; safety is the lease's. */
export interface Coordination {
  /** Names this runner in leases. */
  readonly owner: string
  /** True only where it is certain that this owner no longer runs. */
  isDead(owner: string): boolean
  /** Brings what `isDead` knows up to date, where that takes a question of its own. Never rejects. */
  lookAround?(): Promise<void>
  /** May a request leave now? False only where the platform is certain that none can: then none is tried. */
  isOnline?(): boolean
  /** Calls back when it may be worth looking for work: coming online or back to the front, a neighbour's hint. Returns how to stop. */
  onWake(listener: () => void): () => void
  /** Calls back with the neighbours' hints. Returns how to stop. */
  onHint?(listener: (hint: Hint) => void): () => void
  /** Passes a hint on to the neighbours. Never throws. */
  hint?(hint: Hint): void
  /** This runner ends; its leases are about to be released. */
  leave(): void
}
