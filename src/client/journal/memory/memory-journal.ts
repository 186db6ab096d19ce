import { StorageError } from '../../../errors/classes.ts'
import type { Journal, JournalCommand, JournalResult, PlacedRow } from '../port.ts'
import { type KeptRow, planOf } from '../row-commands.ts'
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
    const results = commands.map((command) => run(table, command))
    table.keep()
    return results
  } catch (error) {
    table.undo()
    if (error instanceof StorageError) throw error
    const message = 'The journal in memory could not run a batch; nothing of it was kept'
    throw new StorageError(message, { cause: error, effect: 'none' })
  }
}

/** Runs one command; a throw leaves the table for the caller to undo. */
function run(table: MemoryTable, command: JournalCommand): JournalResult {
  const { wanted, decide } = planOf(command)
  const decision = decide(table.find(wanted))
  const { insert, put = [], responseBody, handOut = [] } = decision
  if (insert) table.insert({ ...withOwnBytes(insert), setAside: false })
  for (const row of put) table.put(responseBody ? { ...row, responseBody: new Uint8Array(responseBody) } : row)
  for (const row of decision.delete ?? []) table.delete(row)
  return decision.answer(handOut.map(outside))
}

function outside({ setAside: _, ...row }: KeptRow): PlacedRow {
  return withOwnBytes(row)
}

/** Bytes are copied on their way in and out, so that nobody outside can change what is on record. */
function withOwnBytes<Row extends { readonly body: Uint8Array | null; readonly responseBody: Uint8Array | null }>(
  row: Row,
): Row {
  const { body, responseBody } = row
  return { ...row, body: body && new Uint8Array(body), responseBody: responseBody && new Uint8Array(responseBody) }
}
