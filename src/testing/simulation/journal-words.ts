import { writesLevel } from '../../client/journal/level-rows.ts'
import type { JournalCommand } from '../../client/journal/port.ts'
import { type IsSettled, isCommit, kindOf, meaningOf } from '../command-meaning.ts'
import { WRITES, type Write } from './vocabulary.ts'

/** What a command does, in the words of an operation's life; undefined for those that no client of a history uses. */
export function wordOf(command: JournalCommand, isSettled: IsSettled): Write | undefined {
  if (writesLevel(command)) return undefined
  if (isCommit(command)) return meaningOf(command, isSettled)
  // A look at a lane is a read like others.
  const kind = command.do === 'lane' ? 'read' : kindOf(command)
  return WRITES.find((word) => word === kind)
}
