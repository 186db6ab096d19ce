import { createLedger } from '../../server/create-ledger.ts'
import type { LedgerStats } from '../../server/entry/upkeep.ts'
import { type DatabaseOptions, withDatabase, withExamples } from '../arguments.ts'
import { type Database, withDatabaseOf } from '../database/database.ts'
import { type JournalCounts, readJournalCounts } from '../database/journal-counts.ts'
import { presentComponents } from '../database/present-components.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { type Column, printFields, printTable } from '../render/table.ts'
import { bytesText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'

interface Stats {
  readonly database: string
  readonly bytes: number
  readonly journal?: JournalCounts
  readonly ledger?: LedgerStats
}

export function addStats(program: Command, { terminal }: Session): void {
  const command = withDatabase(
    program.command('stats').description('count the operations of a journal and the entries of a ledger'),
  ).action((options: DatabaseOptions) =>
    withDatabaseOf({ options, terminal, access: 'read' }, async (database) => {
      const stats = await readStats(database, terminal)
      return options.json ? printJson(terminal, stats) : printStats(stats, terminal)
    }),
  )
  withExamples(command, [['holdfast stats --json', 'for a monitor']])
}

async function readStats(database: Database, terminal: Terminal): Promise<Stats> {
  const present = await presentComponents(database)
  const progress = terminal.progress('Counting')
  try {
    return {
      database: database.place.shown,
      bytes: await database.bytes(),
      ...(present.includes('journal') && { journal: await readJournalCounts(database) }),
      ...(present.includes('ledger') && { ledger: await readLedgerStats(database) }),
    }
  } finally {
    progress.stop()
  }
}

async function readLedgerStats(database: Database): Promise<LedgerStats> {
  const ledger = createLedger({ store: database.ledger(), scope: 'public' })
  try {
    return await ledger.stats()
  } finally {
    await ledger.close()
  }
}

type CountRow = JournalCounts['operations'][number]

const COUNTS: readonly Column<CountRow>[] = [
  { title: 'NAMESPACE', value: ({ namespace }) => namespace, least: 10 },
  { title: 'STATUS', value: ({ status }) => status, isWord: true },
  { title: 'OPERATIONS', value: ({ count }) => String(count) },
]

async function printStats({ database, bytes, journal, ledger }: Stats, terminal: Terminal): Promise<void> {
  await printFields(terminal, [
    ['database', `${database} (${bytesText(bytes)})`],
    ['in flight', journal && String(journal.leased)],
    ['awaiting their handler', journal && String(journal.deliveryDue)],
    ['set aside', journal && journal.setAside > 0 ? String(journal.setAside) : undefined],
    ['entries running', ledger && String(ledger.running)],
    ['entries done', ledger && String(ledger.done)],
    ['entries unknown', ledger && String(ledger.unknown)],
    ['messages', ledger && String(ledger.messages)],
    ['past their retention', ledger && String(ledger.expired)],
  ])
  if (!journal || journal.operations.length === 0) return
  await terminal.out('\n')
  await printTable(terminal, COUNTS, journal.operations)
}
