import { HoldfastError } from '../../errors/holdfast-error.ts'
import type { EntryState } from './entry.ts'

export type EntryEvent =
  /** A first request, or one that comes after the retention. */
  | 'claimed'
  /** Another request goes on with what a dead one left. */
  | 'taken-over'
  | 'recorded'
  /** Nothing was done: the key is as if it had never been used. */
  | 'released'
  /** Its runner is gone, or cannot say what it did. */
  | 'abandoned'

export type EntryStateOrAbsent = EntryState | 'absent'

/** Every legal move. What is not here is an error, not a no-op. */
export const ENTRY_MOVES: Readonly<
  Record<EntryStateOrAbsent, Readonly<Partial<Record<EntryEvent, EntryStateOrAbsent>>>>
> = {
  absent: { claimed: 'running' },
  running: { recorded: 'done', released: 'absent', abandoned: 'unknown', 'taken-over': 'running' },
  // Recorded by its own runner, which was silent for longer than its lease and is alive after all.
  unknown: { 'taken-over': 'running', recorded: 'done' },
  // After its retention the key is a new one.
  done: { claimed: 'running' },
}

export function nextEntryState(state: EntryStateOrAbsent, event: EntryEvent): EntryStateOrAbsent {
  const next = ENTRY_MOVES[state][event]
  if (next === undefined) {
    throw new HoldfastError(`An entry that is ${state} cannot be ${event}`, {
      code: 'HOLDFAST_ENTRY',
      effect: 'unknown',
    })
  }
  return next
}
