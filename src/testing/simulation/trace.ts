/** What each actor did when, in one history. */
export interface Trace {
  say(at: number, actor: string, what: string): void
}

/** One line for each thing that happened; `lines` can be read by a person. */
export class WrittenTrace implements Trace {
  readonly lines: string[] = []

  say(at: number, actor: string, what: string): void {
    this.lines.push(`${(at / 1000).toFixed(3).padStart(9)} s  ${actor.padEnd(8)} ${what}`)
  }
}
