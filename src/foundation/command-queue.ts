/** A command, and how its caller is answered. */
export interface Queued<Command, Failure> {
  readonly command: Command
  readonly resolve: (result: never) => void
  readonly reject: (error: Failure) => void
}

/** Shares transactions between commands that have nothing to do with each other. */
export interface CommandQueue<Command, Failure> {
  push(queued: Queued<Command, Failure>): void
  /** Resolves once nothing is queued or being written. */
  idle(): Promise<void>
}

export interface QueueTerms {
  /** How writes wait for others that are ready to share their transaction. */
  readonly turn?: (() => Promise<void>) | undefined
  /** The caller's clock, for journals that have another one. */
  readonly now?: (() => number) | undefined
}
