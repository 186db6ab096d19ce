/** What came of one delivery of a message. */
export interface Consumed {
  readonly duplicate: boolean
  /** The text that the work of the first delivery returned, or null if it returned none. */
  readonly value: string | null
  /** The message is held: the work was not called. */
  readonly held?: true
}

/**
 * The key of the entry that holds a message: work that has ended its transaction itself may have been done without its id.
 * While the entry is there, the message is not consumed; an operator sees and resolves it as any other that is unknown.
 */
export function heldKey(id: string): string {
  return `message:${id}`
}

/** By the state of the entry under `heldKey`. */
export function consumedByHolder(state: string): Consumed {
  return state === 'done' ? { duplicate: true, value: null } : { duplicate: false, value: null, held: true }
}
