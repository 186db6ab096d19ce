/** Who did what when, in one history. */
export interface Trace {
  say(at: number, who: string, what: string): void
}

/** One line for each thing that happened; `lines` can be read by a person. */
export class WrittenTrace implements Trace {
  readonly lines: string[] = []

  say(at: number, who: string, what: string): void {
    this.lines.push(`${(at / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(8)} ${what}`)
  }
}
