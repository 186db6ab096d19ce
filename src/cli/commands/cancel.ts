import { type JournalOptions, withExamples, withJournal } from '../arguments.ts'
import { recordOf, withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { operationJson } from '../render/operation-json.ts'
import { Refusal, type Session } from '../terminal.ts'

export function addCancel(program: Command, { terminal }: Session): void {
  const command = withJournal(
    program
      .command('cancel <key>')
      .description('settle a pending operation as cancelled; a runner that works on it stops'),
  ).action((keyOrId: string, options: JournalOptions) =>
    withJournalOf({ options, terminal, access: 'write' }, async (journal) => {
      const before = await recordOf(journal, keyOrId)
      if (!(await journal.client().cancel(before.key))) {
        throw new Refusal(`${before.key} is ${before.status} already: there is nothing to cancel`)
      }
      const record = await recordOf(journal, before.key)
      if (options.json) return printJson(terminal, operationJson(record, terminal.now()))
      const mayBeDone = record.effect !== 'none'
      await terminal.out(
        `${record.key} ${record.status}${mayBeDone ? '. An attempt has left before: it may have been done' : ''}\n`,
      )
    }),
  )
  withExamples(command, [['holdfast cancel order:42:charge', 'by its id; the lane behind it goes on']])
}
