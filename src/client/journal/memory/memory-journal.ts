import { StorageError } from '../../../errors/classes.ts'
import type { Journal, JournalCommand, JournalResult } from '../port.ts'
import { runCommand } from './memory-commands.ts'
import { MemoryTable } from './memory-table.ts'

/**
 * A journal that lives as long as this object: nothing survives the process. Clients that are given the
 * same object share it; closing it drops nothing, since another client may still use it.
 */
export function memoryJournal(): Journal {
  const table = new MemoryTable()
  return {
    level: 'memory',
    open: async () => {},
    close: async () => {},
    execute: async (commands) => runAll(table, commands),
  }
}

function runAll(table: MemoryTable, commands: readonly JournalCommand[]): JournalResult[] {
  try {
    const results = commands.map((command) => runCommand(table, command))
    table.keep()
    return results
  } catch (error) {
    table.undo()
    if (error instanceof StorageError) throw error
    throw new StorageError('The journal in memory could not run a batch; nothing of it was kept', { cause: error })
  }
}
