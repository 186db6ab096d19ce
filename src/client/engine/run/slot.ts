/** One of the places of a resume. */
export interface Slot {
  release(): void
  /** False: none is free now. */
  tryTake(): boolean
  take(): Promise<void>
}
