import { isDeadLetter } from '../../client/operation/dead-letter.ts'
import { OPERATION_STATUSES, type OperationRecord, type OperationStatus } from '../../client/operation/record.ts'
import { viewOf } from '../../client/operation/view.ts'
import { type JournalOptions, readLimit, withExamples, withJournal } from '../arguments.ts'
import { type JournalSession, recordsOf, withJournalOf } from '../journal-session.ts'
import { type Command, Option } from '../libraries.ts'
import { isHeld, JournalOrigins } from '../origins/journal-origins.ts'
import { printList } from '../render/list.ts'
import { operationJson } from '../render/operation-json.ts'
import type { Column } from '../render/table.ts'
import { relativeText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'

export interface FilterOptions extends JournalOptions {
  readonly status?: OperationStatus
  readonly name?: string
  readonly after?: string
}

interface ListOptions extends FilterOptions {
  readonly dead?: boolean
  readonly limit: number
}

export function withFilter(command: Command): Command {
  return withJournal(command)
    .addOption(new Option('--status <status>', 'only operations in this status').choices(OPERATION_STATUSES))
    .option('--name <name>', 'only operations with this name')
    .option('--after <key>', 'go on behind the operation with this key or id')
}

export function addList(program: Command, { terminal }: Session): void {
  const command = withFilter(program.command('list').description('list operations, oldest first'))
    .option('--dead', 'only what a person has to look at: parked, rejected, failed, expired, undelivered')
    .option('--limit <count>', "how many at most, or 'all'", readLimit, 50)
    .action((options: ListOptions) =>
      withJournalOf({ options, terminal, access: 'read' }, (journal) => list(journal, options, terminal)),
    )
  withExamples(command, [
    ['holdfast list --status pending', 'what is still to be done'],
    ['holdfast list --dead --json', 'the dead letters, for a script'],
    ['holdfast list --db postgres://db.internal/shop --namespace billing', 'the journal of a fleet'],
  ])
}

async function list(journal: JournalSession, options: ListOptions, terminal: Terminal): Promise<void> {
  const { json, limit } = options
  const now = terminal.now()
  const origins = await JournalOrigins.read(journal.keeper.journal, now)
  const toJson = (record: OperationRecord) => ({ ...operationJson(record, now), heldBack: origins.holdOn(record) })
  const terms = { json, limit, columns: columnsAt(now, origins), toJson }
  const records = filtered(journal, options)
  const shown = await printList(terminal, terms, options.dead ? deadOf(records, now) : records)
  if (shown === 0 && !json) await sayWhereOthersAre(journal, terminal)
  if (!json) await sayWhatIsHeldBack(journal, origins, terminal)
  reportUnreadable(journal, terminal)
}

async function* deadOf(records: AsyncIterable<OperationRecord>, now: number): AsyncGenerator<OperationRecord> {
  for await (const record of records) if (isDeadLetter(record, now)) yield record
}

export async function* filtered(journal: JournalSession, filter: FilterOptions): AsyncGenerator<OperationRecord> {
  const { status, name, after } = filter
  for await (const record of recordsOf(journal, { status, after })) {
    if (name === undefined || record.name === name) yield record
  }
}

export function reportUnreadable({ unreadable }: JournalSession, { err }: Terminal): void {
  if (unreadable.length === 0) return
  err(`${unreadable.length} more can't be read: \`holdfast doctor\` tells why.\n`)
}

function columnsAt(now: number, origins: JournalOrigins): readonly Column<OperationRecord>[] {
  return [
    { title: 'KEY', value: ({ key }) => key },
    { title: 'STATUS', value: ({ status }) => status, isWord: true },
    { title: 'ACCEPTED', value: ({ acceptedAt }) => relativeText(acceptedAt, now) },
    { title: 'TRIES', value: (record) => String(viewOf(record, now).attempts) },
    { title: 'REQUEST', value: (record) => requestText(record, now), least: 12 },
    { title: 'ID', value: ({ id, name }) => id ?? name ?? '', least: 4 },
    { title: 'NOTE', value: (record) => noteOf(record, now, origins), least: 6 },
  ]
}

function requestText(record: OperationRecord, now: number): string {
  const { method, url } = viewOf(record, now)
  return `${method} ${url.replace(/^https?:\/\//, '')}`
}

/** Why it is not being worked on, or why it ended. */
export function noteOf(record: OperationRecord, now: number, origins: JournalOrigins): string {
  const { reason, inFlight, nextAttemptAt = 0 } = viewOf(record, now)
  if (record.status !== 'pending') return reason ?? ''
  if (isHeld(record, now)) return inFlight ? 'in flight' : 'with a runner'
  if (reason === 'poison' || reason === 'auth') return `parked: ${reason}`
  if (nextAttemptAt > now) return `next ${relativeText(nextAttemptAt, now)}`
  const hold = origins.holdOn(record)
  return hold === undefined ? `due${reason ? `: ${reason}` : ''}` : `held back: ${hold}`
}

/** More are not counted: each is read. */
const MOST_COUNTED = 1000

/** Of each origin that a client has found in trouble: how many wait for it, and when the next one goes. */
async function sayWhatIsHeldBack(journal: JournalSession, origins: JournalOrigins, { err }: Terminal): Promise<void> {
  if (origins.heldBack().length === 0) return
  let left = MOST_COUNTED
  for await (const record of recordsOf(journal, { status: 'pending' })) {
    origins.count(record)
    if (--left === 0) break
  }
  for (const { origin, view } of origins.heldBack()) err(`held back: ${origin} ${view.reason}\n`)
}

/** A namespace that was forgotten on the command line looks like an empty journal. */
async function sayWhereOthersAre({ database, namespace }: JournalSession, { err }: Terminal): Promise<void> {
  const others = await database.rows<{ readonly namespace: string }>(
    `SELECT DISTINCT namespace FROM ${database.table('operations')} WHERE namespace <> '' ORDER BY namespace LIMIT 6`,
  )
  const names = others.map((row) => row.namespace).filter((name) => name !== namespace)
  err(`No such operation is in the namespace ${namespace}.\n`)
  if (names.length > 0) err(`Others have operations: ${names.join(', ')}. Choose one with --namespace.\n`)
}
