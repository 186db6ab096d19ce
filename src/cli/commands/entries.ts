import type { Entry, EntryState } from '../../server/entry/entry.ts'
import { type DatabaseOptions, readLimit, withDatabase, withExamples } from '../arguments.ts'
import { type AnyLedger, withLedgerOf } from '../ledger-session.ts'
import { type Command, Option } from '../libraries.ts'
import { entryJson } from '../render/entry-json.ts'
import { printList } from '../render/list.ts'
import type { Column } from '../render/table.ts'
import { relativeText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'

interface EntriesOptions extends DatabaseOptions {
  readonly state?: EntryState
  readonly scope?: string
  readonly limit: number
}

export function addEntries(program: Command, { terminal }: Session): void {
  const command = withDatabase(program.command('entries').description("list a ledger's entries, oldest first"))
    .addOption(new Option('--state <state>', 'only entries in this state').choices(['running', 'done', 'unknown']))
    .option('--scope <scope>', 'only entries of this scope')
    .option('--limit <count>', "how many at most, or 'all'", readLimit, 50)
    .action((options: EntriesOptions) =>
      withLedgerOf({ options, terminal, access: 'read' }, (open) => list(open(), options, terminal)),
    )
  withExamples(command, [
    ['holdfast entries --db shop.db --state unknown', 'what waits for a decision: see `holdfast resolve`'],
    ['holdfast entries --db postgres://db.internal/shop --scope acme --json', 'what one customer has'],
  ])
}

async function list(ledger: AnyLedger, options: EntriesOptions, terminal: Terminal): Promise<void> {
  const { state, scope, limit, json } = options
  const terms = { json, limit, columns: columnsAt(terminal.now()), toJson: entryJson }
  const shown = await printList(terminal, terms, ledger.entries({ state, scope }))
  if (shown === 0 && !json) terminal.err('No such entry is in the ledger.\n')
}

function columnsAt(now: number): readonly Column<Entry>[] {
  return [
    { title: 'SCOPE', value: ({ scope }) => scope },
    { title: 'KEY', value: ({ key }) => key },
    { title: 'STATE', value: ({ state }) => state, isWord: true },
    { title: 'CREATED', value: ({ createdAt }) => relativeText(createdAt, now) },
    { title: 'TRIES', value: ({ attempt }) => String(attempt) },
    { title: 'REQUEST', value: ({ method, path }) => `${method} ${path}`, least: 12 },
    { title: 'NOTE', value: (entry) => noteOf(entry, now), least: 6 },
  ]
}

function noteOf({ state, answer, unknownSince, leaseUntil }: Entry, now: number): string {
  if (state === 'done') return answer ? String(answer.status) : ''
  if (state === 'unknown') return unknownSince === null ? '' : `since ${relativeText(unknownSince, now)}`
  return `lease ${leaseUntil > now ? 'ends' : 'ended'} ${relativeText(leaseUntil, now)}`
}
