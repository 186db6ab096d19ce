import type { Commit, JournalCommand } from '../../client/journal/port.ts'
import type { HeadV1 } from '../../client/operation/codec.ts'
import type { Write } from './vocabulary.ts'

export function headOf(head: string): HeadV1 {
  return JSON.parse(head) as HeadV1
}

/** Says whether the journal already has this operation as settled. */
export type IsSettled = (key: string) => boolean

/** What a command does, in the words of an operation's life; undefined for those that no client of a history uses. */
export function wordOf(command: JournalCommand, isSettled: IsSettled): Write | undefined {
  switch (command.do) {
    case 'commit':
      return commitWord(command, isSettled)
    case 'list':
    case 'forget':
    case 'set-aside':
      return undefined
    default:
      return command.do
  }
}

function commitWord({ key, change }: Commit, isSettled: IsSettled): Write {
  if (change.status !== 'pending') return isSettled(key) ? 'deliver' : 'settle'
  if (change.owner === null) return 'release'
  return headOf(change.head).inFlightSince === undefined ? 'wait' : 'attempt'
}
