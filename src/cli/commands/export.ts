import { withExamples } from '../arguments.ts'
import { withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJsonLine } from '../render/json.ts'
import { operationWithBodiesJson, wholeOperationJson } from '../render/operation-json.ts'
import type { Session } from '../terminal.ts'
import { type FilterOptions, filtered, reportUnreadable, withFilter } from './list.ts'

interface ExportOptions extends FilterOptions {
  readonly withBodies?: boolean
}

const TOLD_EVERY = 1000

export function addExport(program: Command, { terminal }: Session): void {
  const command = withFilter(
    program.command('export').description('print every operation as JSON lines, without bodies and query strings'),
  )
    .option('--with-bodies', 'with bodies and whole URLs, which may hold personal data')
    .action((options: ExportOptions) =>
      withJournalOf({ options, terminal, access: 'read' }, async (journal) => {
        const toJson = options.withBodies ? operationWithBodiesJson : wholeOperationJson
        const progress = terminal.progress('Exporting')
        let count = 0
        try {
          for await (const record of filtered(journal, options)) {
            if (terminal.signal.aborted) break
            await printJsonLine(terminal, toJson(record, terminal.now()))
            if (++count % TOLD_EVERY === 0) progress.update(`Exporting: ${count} operations`)
          }
        } finally {
          progress.stop()
        }
        reportUnreadable(journal, terminal)
      }),
    )
  withExamples(command, [
    ['holdfast export > operations.jsonl', 'all of a namespace'],
    ['holdfast export --status failed --with-bodies > failed.jsonl', 'to do them again by hand'],
  ])
}
