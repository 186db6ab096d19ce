import { createLedger } from '../../server/create-ledger.ts'
import { type DatabaseOptions, withDatabase, withExamples } from '../arguments.ts'
import { type Database, withDatabaseOf } from '../database/database.ts'
import { presentComponents } from '../database/present-components.ts'
import { inJournal } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { countText } from '../render/words.ts'
import type { Progress, Session, Terminal } from '../terminal.ts'

export function addPrune(program: Command, { terminal }: Session): void {
  const command = withDatabase(
    program.command('prune').description('delete what has outlived its retention, in a journal and in a ledger'),
  ).action((options: DatabaseOptions) =>
    withDatabaseOf({ options, terminal, access: 'write' }, async (database) => {
      const pruned = await prune(database, terminal)
      if (options.json) return printJson(terminal, pruned)
      const { operations, entries, abandoned } = pruned
      if (operations !== undefined) await terminal.out(`journal: ${countText(operations, 'record')} deleted\n`)
      if (entries === undefined) return
      const left = abandoned ? `, ${abandoned} marked unknown: see \`holdfast entries --state unknown\`` : ''
      await terminal.out(`ledger: ${countText(entries, 'row')} deleted${left}\n`)
    }),
  )
  withExamples(command, [['holdfast prune --db shop.db', 'what a reaper would do, once']])
}

interface Pruned {
  operations?: number
  entries?: number
  abandoned?: number
}

async function prune(database: Database, terminal: Terminal): Promise<Pruned> {
  const present = await presentComponents(database)
  const progress = terminal.progress('Pruning')
  const pruned: Pruned = {}
  try {
    if (present.includes('journal')) pruned.operations = await pruneJournal(database, terminal, progress)
    if (present.includes('ledger')) Object.assign(pruned, await pruneLedger(database, terminal, progress))
  } finally {
    progress.stop()
  }
  return pruned
}

const BATCH = 500

/** In batches, so that no other writer waits long. */
function pruneJournal(database: Database, terminal: Terminal, progress: Progress): Promise<number> {
  return inJournal(database, 'default', async ({ keeper }) => {
    let deleted = 0
    for (let batch = BATCH; batch === BATCH && !terminal.signal.aborted; ) {
      batch = await keeper.prune(terminal.now(), BATCH)
      deleted += batch
      progress.update(`Pruning: ${deleted} records`)
    }
    return deleted
  })
}

async function pruneLedger(database: Database, terminal: Terminal, progress: Progress): Promise<Pruned> {
  const ledger = createLedger({ store: database.ledger(), scope: 'public' })
  try {
    let [entries, abandoned] = [0, 0]
    for (let more = true; more && !terminal.signal.aborted; ) {
      const reaped = await ledger.reap({ limit: BATCH })
      entries += reaped.deleted
      abandoned += reaped.abandoned
      more = reaped.more
      progress.update(`Pruning: ${entries} entries`)
    }
    return { entries, abandoned }
  } finally {
    await ledger.close()
  }
}
