import type { ResumeReport } from '../../client/engine/recover/resume-report.ts'
import { readCount, type SendingOptions, withExamples, withSending } from '../arguments.ts'
import { type JournalSession, recordsOf, refuseSealed, sendingClient, withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { countText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'

interface ResumeOptions extends SendingOptions {
  readonly concurrency: number
}

export function addResume(program: Command, session: Session): void {
  const { terminal } = session
  const command = withSending(
    program.command('resume').description('send what is pending and what no running client works on, once'),
  )
    .option('--concurrency <count>', 'how many at once, at most', readCount, 5000)
    .action(async (options: ResumeOptions) => {
      const client = sendingClient(options)
      const report = await withJournalOf({ options, terminal, access: 'write' }, async (journal) => {
        await refuseSealedPending(journal)
        return resume(journal, { ...options, client }, terminal)
      })
      if (options.json) await printJson(terminal, report)
      else await printReport(report, terminal)
      if (report.succeeded < report.claimed || terminal.signal.aborted) session.exitCode = 1
    })
  withExamples(command, [
    ['holdfast resume --base-url https://api.example.com --header @token', 'with the credentials that a file has'],
    ['holdfast resume --json', 'what was sent without credentials, to wherever it was meant for'],
  ])
}

/** Looked at before anything is sent: which operations are claimed is known only when they are. */
async function refuseSealedPending(journal: JournalSession): Promise<void> {
  for await (const record of recordsOf(journal, { status: 'pending' })) refuseSealed(record)
}

async function resume(
  journal: JournalSession,
  { client: options, concurrency }: { client: ReturnType<typeof sendingClient>; concurrency: number },
  terminal: Terminal,
): Promise<ResumeReport> {
  const progress = terminal.progress('Resuming')
  let settled = 0
  const observe = ({ type }: { readonly type: string }): void => {
    if (type === 'operation.settled') progress.update(`Resuming: ${++settled} settled`)
  }
  try {
    return await journal.client({ ...options, observe }).resume({ concurrency, signal: terminal.signal })
  } finally {
    progress.stop()
  }
}

const ENDS = ['succeeded', 'rejected', 'failed', 'expired', 'cancelled', 'pending'] as const

async function printReport(report: ResumeReport, terminal: Terminal): Promise<void> {
  if (report.claimed === 0) return terminal.out('Nothing to resume: no operation is pending and free.\n')
  const ends = ENDS.filter((end) => report[end] > 0).map((end) => `${report[end]} ${end}`)
  await terminal.out(`${countText(report.claimed, 'operation')} resumed: ${ends.join(', ')}.\n`)
  if (report.pending > 0) terminal.err('`holdfast list --status pending` tells why these are still pending.\n')
}
