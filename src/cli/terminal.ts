/** What a command sees of the world around it: tests give it another one. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of stdout. Undefined where it is a file or a pipe: then nothing is cut. */
  readonly columns: number | undefined
  readonly hasColour: boolean
  /** Epoch milliseconds. */
  now(): number
  /** Aborts on the first Ctrl-C: work that is under way comes to an orderly end. */
  readonly signal: AbortSignal
  /** Resolves when the text is taken, so that a long list does not pile up in memory. */
  out(text: string): Promise<void>
  err(text: string): void
  /** Shows what long work is at. Shows nothing where stderr is a file or a pipe. */
  progress(text: string): Progress
  /** Asks for a yes or a no. Undefined where stdin is no terminal. */
  confirm?(question: string): Promise<boolean>
}

export interface Progress {
  update(text: string): void
  stop(): void
}

/** 0: done. 1: refused or failed. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2

/** One run of the command line. */
export interface Session {
  readonly terminal: Terminal
  exitCode: ExitCode
}

/** What was asked for can't be done: exit code 1. Its message is for the user. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** What was asked for makes no sense: exit code 2. */
export class WrongUsage extends Error {
  override name = 'WrongUsage'
}
