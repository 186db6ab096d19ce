import type { OperationRecord } from '../../client/operation/record.ts'
import { viewOf } from '../../client/operation/view.ts'
import type { AttemptSummary } from '../../errors/holdfast-error.ts'
import { redactText } from '../../observe/redact.ts'
import { type JournalOptions, withExamples, withJournal } from '../arguments.ts'
import { recordOf, withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { JournalOrigins } from '../origins/journal-origins.ts'
import { printJson } from '../render/json.ts'
import { bodyJson, operationJson, operationWithBodiesJson, wholeOperationJson } from '../render/operation-json.ts'
import { type Column, printFields, printTable } from '../render/table.ts'
import { bytesText, durationText, plainText, relativeText, timeText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'
import { noteOf } from './list.ts'

interface ShowOptions extends JournalOptions {
  readonly withBodies?: boolean
}

export function addShow(program: Command, { terminal }: Session): void {
  const command = withJournal(program.command('show <key>').description('show one operation, by key or id'))
    .option('--with-bodies', 'show what was sent and what was answered, too')
    .action((keyOrId: string, options: ShowOptions) =>
      withJournalOf({ options, terminal, access: 'read' }, async (journal) => {
        const record = await recordOf(journal, keyOrId)
        if (options.json) {
          const toJson = options.withBodies ? operationWithBodiesJson : wholeOperationJson
          return printJson(terminal, toJson(record, terminal.now()))
        }
        await showOperation(record, await JournalOrigins.read(journal.keeper.journal, terminal.now()), terminal)
        if (options.withBodies) await showBodies(record, terminal)
      }),
    )
  withExamples(command, [
    ['holdfast show order:42:charge', 'by its id'],
    ['holdfast show 3f1c0a52-… --with-bodies --json', 'everything that the journal has of it'],
  ])
}

async function showOperation(record: OperationRecord, origins: JournalOrigins, terminal: Terminal): Promise<void> {
  const now = terminal.now()
  const when = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : `${timeText(at)} (${relativeText(at, now)})`
  const { method, url, effect, reason, horizonAt, nextAttemptAt } = viewOf(record, now)
  const { lease, lane, request, response } = record
  const { lastError, metadata } = operationJson(record, now)
  await printFields(terminal, [
    ['key', record.key],
    ['id', record.id],
    ['name', record.name],
    ['status', record.status],
    ['effect', EFFECTS[effect]],
    ['reason', reason],
    ['note', record.status === 'pending' ? noteOf(record, now, origins) || undefined : undefined],
    ['error', lastError],
    ['request', `${method} ${url} (${bytesText(request.body?.byteLength ?? 0)})`],
    ['response', response && `${response.status} (${bytesText(response.body?.byteLength ?? 0)})`],
    ['accepted', when(record.acceptedAt)],
    ['horizon', when(horizonAt)],
    ['next', when(nextAttemptAt)],
    ['settled', when(record.settledAt)],
    ['kept', record.expiresAt === undefined ? undefined : `until ${timeText(record.expiresAt)}`],
    ['lease', lease && `${lease.owner}, ${lease.until > now ? 'ends' : 'ended'} ${relativeText(lease.until, now)}`],
    ['lane', lane && `${lane}${record.holdsLane ? ', which waits for it' : ''}`],
    ['handler', record.deliveryDue ? 'has not taken the settlement yet' : undefined],
    ['metadata', metadata === undefined ? undefined : JSON.stringify(metadata)],
  ])
  if (record.attempts.length === 0) return
  await terminal.out('\n')
  await printTable(terminal, ATTEMPTS, record.attempts)
}

const EFFECTS = {
  none: 'none: it was certainly not done',
  unknown: 'unknown: it may have been done',
  applied: 'applied: it was done',
} as const

const ATTEMPTS: readonly Column<AttemptSummary>[] = [
  { title: 'TRY', value: ({ number }) => String(number) },
  { title: 'STARTED', value: ({ startedAt }) => timeText(startedAt) },
  { title: 'TOOK', value: ({ durationMs }) => durationText(durationMs) },
  { title: 'ENDED', value: ({ status, fault }) => redactText(String(status ?? fault ?? '')), least: 10 },
]

async function showBodies({ request, response }: OperationRecord, terminal: Terminal): Promise<void> {
  const parts = [
    ['request', request.body],
    ['response', response?.body ?? null],
  ] as const
  for (const [title, body] of parts) {
    const shown = bodyJson(body)
    if (shown === null) continue
    const text = 'text' in shown ? shown.text.split('\n').map(plainText).join('\n') : `base64: ${shown.base64}`
    await terminal.out(`\n${title}\n${text}\n`)
  }
}
