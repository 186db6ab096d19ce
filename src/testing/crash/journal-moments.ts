import { writesLevel } from '../../client/journal/level-rows.ts'
import type { AppendResult, ClaimedRow, JournalCommand, JournalResult, JournalRow } from '../../client/journal/port.ts'
import { meaningOf } from '../commit-meaning.ts'
import type { CrashPoint, JournalMoment } from './crash-point.ts'

type Named = Pick<JournalRow, 'namespace' | 'key'>

/** Tells what a client's commands mean. */
export class JournalMoments {
  /** What has been settled: a later settled commit says that a handler was told. */
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
      this.#learn(command, result)
      return moment ? [`${moment}:durable` as const] : []
    })
  }

  #momentOf(command: JournalCommand): JournalMoment | undefined {
    if (writesLevel(command)) return undefined
    if (command.do === 'append' || command.do === 'renew') return command.do
    if (command.do === 'claim' || command.do === 'claim-one') return 'claim'
    if (command.do !== 'commit') return undefined
    return meaningOf(command, (named) => this.#settled.has(nameOf(named)))
  }

  #learn(command: JournalCommand, result: JournalResult): void {
    if (command.do === 'commit' && result === true) this.#note(command, command.change.status)
    if (command.do === 'remove') this.#settled.delete(nameOf(command))
    for (const row of claimedBy(command, result)) this.#note(row, row.status)
  }

  #note(row: Named, status: JournalRow['status']): void {
    if (status === 'pending') this.#settled.delete(nameOf(row))
    else this.#settled.add(nameOf(row))
  }
}

function hasChanged(command: JournalCommand, result: JournalResult): boolean {
  if (command.do === 'append') return (result as AppendResult).appended
  if (command.do === 'claim' || command.do === 'claim-one') return claimedBy(command, result).length > 0
  return result === true
}

function claimedBy(command: JournalCommand, result: JournalResult): readonly ClaimedRow[] {
  if (command.do === 'claim') return result as ClaimedRow[]
  if (command.do === 'claim-one') return result === undefined ? [] : [result as ClaimedRow]
  return []
}

function nameOf({ namespace, key }: Named): string {
  return JSON.stringify([namespace, key])
}

/** Who asks for these, where they say so. */
export function ownersOf(commands: readonly JournalCommand[]): string[] {
  return commands.flatMap((command) => {
    if (writesLevel(command)) return []
    if (command.do === 'append') return command.row.owner === null ? [] : [command.row.owner]
    return 'owner' in command ? [command.owner] : []
  })
}
