/**
 * How long the work of dead processes lay idle: from the kill until another process has taken the operation up. Times are
 * of `performance.now()`.
 */
export class TakeoverTimes {
  /** By key: the process that works on it. */
  readonly #holders = new Map<string, number>()
  /** By key: when the process that worked on it died. */
  readonly #orphans = new Map<string, number>()
  readonly #tookMs: number[] = []

  /** A process has accepted it, or joined what another one works on. */
  accepted(key: string, pid: number): void {
    if (!this.#holders.has(key) && !this.#orphans.has(key)) this.#holders.set(key, pid)
  }

  resumed(key: string, pid: number, at = performance.now()): void {
    const diedAt = this.#orphans.get(key)
    if (diedAt !== undefined) this.#tookMs.push(at - diedAt)
    this.#orphans.delete(key)
    this.#holders.set(key, pid)
  }

  /** It has come to its end, or was left to whichever process resumes it. */
  dropped(key: string): void {
    this.#holders.delete(key)
    this.#orphans.delete(key)
  }

  died(victim: number, at = performance.now()): void {
    for (const [key, holder] of this.#holders) {
      if (holder !== victim) continue
      this.#holders.delete(key)
      this.#orphans.set(key, at)
    }
  }

  get slowestMs(): number {
    return Math.round(Math.max(0, ...this.#tookMs))
  }

  get medianMs(): number {
    const sorted = [...this.#tookMs].sort((one, other) => one - other)
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
  }

  laterThan(ms: number): number {
    return this.#tookMs.filter((took) => took > ms).length
  }
}
