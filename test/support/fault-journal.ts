import type { Journal, JournalCommand, JournalResult } from '../../src/client/journal/port.ts'
import { StorageError } from '../../src/errors/classes.ts'
import { type CommandKind, kindOf } from '../../src/testing/command-meaning.ts'

/**
 * What the disk does with a batch that holds a chosen command. `fail`: nothing is written, and it says so.
 * `fail-late`: everything is written, and it says that nothing was. `hang`: nothing is written and nothing is said.
 * `hang-late`: everything is written and nothing is said, as after a power cut behind the write.
 */
export type DiskFault = 'fail' | 'fail-late' | 'hang' | 'hang-late'

export interface FaultJournal extends Journal {
  /** Every command that was asked for, in order. */
  readonly commands: readonly JournalCommand[]
  /** Decides for each command; undefined lets it through. */
  fault: ((command: JournalCommand) => DiskFault | undefined) | undefined
  /** From here on nothing answers: for its client, this is the end of the process. */
  crash(): void
}

/** A journal on top of another one, with a disk that fails on demand. */
export function faultJournal(inner: Journal): FaultJournal {
  const commands: JournalCommand[] = []
  const journal: FaultJournal = {
    level: inner.level,
    commands,
    fault: undefined,
    crash: () => {
      journal.fault = () => 'hang'
    },
    open: () => inner.open(),
    close: () => inner.close(),
    execute: async (batch) => {
      commands.push(...batch)
      const fault = batch.map((command) => journal.fault?.(command)).find((found) => found !== undefined)
      return fault ? suffer(fault, () => inner.execute(batch)) : inner.execute(batch)
    },
  }
  return journal
}

async function suffer(fault: DiskFault, write: () => Promise<JournalResult[]>): Promise<JournalResult[]> {
  if (fault === 'fail-late' || fault === 'hang-late') await write()
  if (fault === 'fail' || fault === 'fail-late') throw new StorageError('The disk is gone')
  return new Promise(() => {})
}

/** A fault for one kind of command, from the first on or only so many times. */
export function on(
  kind: CommandKind,
  fault: DiskFault,
  times = Number.POSITIVE_INFINITY,
): NonNullable<FaultJournal['fault']> {
  let left = times
  return (command) => (kindOf(command) === kind && left-- > 0 ? fault : undefined)
}
