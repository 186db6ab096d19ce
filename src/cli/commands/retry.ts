import { isHoldfastError } from '../../errors/holdfast-error.ts'
import { durationOption, type SendingOptions, withExamples, withSending } from '../arguments.ts'
import { type JournalSession, recordOf, refuseSealed, sendingClient, withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { operationJson } from '../render/operation-json.ts'
import type { Session, Terminal } from '../terminal.ts'

interface RetryOptions extends SendingOptions {
  readonly deadline: number
}

export function addRetry(program: Command, session: Session): void {
  const { terminal } = session
  const command = withSending(
    program.command('retry <key>').description('send one operation again, with the same key and bytes'),
  )
    .addOption(durationOption('--deadline <duration>', 'how long to go on', '30s'))
    .action(async (keyOrId: string, options: RetryOptions) => {
      const client = sendingClient(options)
      await withJournalOf({ options, terminal, access: 'write' }, async (journal) => {
        const before = await recordOf(journal, keyOrId)
        refuseSealed(before)
        const { key } = before
        const failure = await retry(journal, { ...options, key, client }, terminal)
        if (failure !== undefined) session.exitCode = 1
        const record = await recordOf(journal, key)
        if (options.json) return printJson(terminal, { ...operationJson(record, terminal.now()), error: failure })
        await terminal.out(`${key} ${record.status}${record.response ? ` with ${record.response.status}` : ''}\n`)
        if (failure !== undefined) terminal.err(`holdfast: ${failure}\n`)
      })
    })
  withExamples(command, [
    ['holdfast retry order:42:charge --base-url https://api.example.com', 'a failed or parked one, by its id'],
  ])
}

interface Retrying {
  readonly key: string
  readonly client: ReturnType<typeof sendingClient>
  readonly deadline: number
}

/** Undefined where it succeeded; else what went wrong, in words that have no credentials. */
async function retry(
  journal: JournalSession,
  { key, client, deadline }: Retrying,
  terminal: Terminal,
): Promise<string | undefined> {
  const progress = terminal.progress('Sending')
  try {
    await journal.client(client).retry(key, { deadline, signal: terminal.signal })
    return undefined
  } catch (error) {
    if (isHoldfastError(error)) return error.message
    if (terminal.signal.aborted) return 'Interrupted'
    throw error
  } finally {
    progress.stop()
  }
}
