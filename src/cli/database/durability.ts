/** One setting of a database that decides what an acknowledged write survives. */
export interface DurabilityFact {
  readonly setting: string
  readonly value: string
  /** What can be lost with this value, and what to do; undefined where it is fine. */
  readonly fault: string | undefined
}
