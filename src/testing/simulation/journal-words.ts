import { writesLevel } from '../../client/journal/level-rows.ts'
import type { JournalCommand } from '../../client/journal/port.ts'
import { type IsSettled, meaningOf } from '../commit-meaning.ts'
import type { Write } from './vocabulary.ts'

/** What a command does, in the words of an operation's life; undefined for those that no client of a history uses. */
export function wordOf(command: JournalCommand, isSettled: IsSettled): Write | undefined {
  if (writesLevel(command)) return undefined
  switch (command.do) {
    case 'commit':
      return meaningOf(command, isSettled)
    case 'list':
    case 'forget':
    case 'set-aside':
      return undefined
    default:
      return command.do
  }
}
