import { writesLevel } from '../../client/journal/level-rows.ts'
import type { AppendResult, ClaimedRow, JournalCommand, JournalResult, JournalRow } from '../../client/journal/port.ts'
import { isCommit, kindOf, meaningOf } from '../command-meaning.ts'
import type { CrashPoint, JournalMoment } from './crash-point.ts'

type Named = Pick<JournalRow, 'namespace' | 'key'>

/** Says what a client's commands mean. */
export class JournalMoments {
  /** What has been settled: a later settled commit says that a handler has taken it. */
  readonly #settled = new Set<string>()

  /** The points before a batch. */
  asked(commands: readonly JournalCommand[]): CrashPoint[] {
    return commands.flatMap((command) => {
      const moment = this.#momentOf(command)
      return moment ? [`${moment}:asked` as const] : []
    })
  }

  /** The points after it. What was refused has changed nothing, and is none. */
  durable(commands: readonly JournalCommand[], results: readonly JournalResult[]): CrashPoint[] {
    return commands.flatMap((command, index) => {
      const result = results[index]
      const moment = hasChanged(command, result) ? this.#momentOf(command) : undefined
      this.#remember(command, result)
      return moment ? [`${moment}:durable` as const] : []
    })
  }

  #momentOf(command: JournalCommand): JournalMoment | undefined {
    if (writesLevel(command)) return undefined
    if (isCommit(command)) return meaningOf(command, (named) => this.#settled.has(nameOf(named)))
    if (command.do === 'append' || command.do === 'claim') return command.do
    return kindOf(command) === 'renew' ? 'renew' : undefined
  }

  #remember(command: JournalCommand, result: JournalResult): void {
    if (isCommit(command) && result === true) this.#note(command, command.change.status)
    if (command.do === 'write' && command.change === 'remove') this.#settled.delete(nameOf(command))
    if (command.do === 'claim') for (const row of result as ClaimedRow[]) this.#note(row, row.status)
  }

  #note(row: Named, status: JournalRow['status']): void {
    if (status === 'pending') this.#settled.delete(nameOf(row))
    else this.#settled.add(nameOf(row))
  }
}

function hasChanged(command: JournalCommand, result: JournalResult): boolean {
  if (command.do === 'append') return (result as AppendResult).appended
  if (command.do === 'claim') return (result as ClaimedRow[]).length > 0
  return result === true
}

function nameOf({ namespace, key }: Named): string {
  return JSON.stringify([namespace, key])
}

/** The runners that ask for these commands, where a command names one. */
export function ownersOf(commands: readonly JournalCommand[]): string[] {
  return commands.flatMap((command) => {
    if (writesLevel(command)) return []
    if (command.do === 'append') return command.row.owner === null ? [] : [command.row.owner]
    return 'owner' in command ? [command.owner] : []
  })
}
