/** The seam to the neighbours: other tabs, other processes. It only ever saves time; safety is the lease's. */
export interface Coordination {
  /** Names this runner in leases. */
  readonly owner: string
  /** True only where it is certain that this owner no longer runs. */
  isDead(owner: string): boolean
  /** Calls back when it may be worth looking for work: coming online, a neighbour's hint. Returns how to stop. */
  onWake(listener: () => void): () => void
  /** This runner ends; its leases are about to be released. */
  leave(): void
}
