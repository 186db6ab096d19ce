import { once } from 'node:events'
import type { Client } from '../../client/client.ts'
import { createLedger } from '../../server/create-ledger.ts'
import { collect, type SendingOptions, withExamples, withSending } from '../arguments.ts'
import { type Database, withDatabaseOf } from '../database/database.ts'
import { presentComponents } from '../database/present-components.ts'
import { startInspector } from '../inspect/start-inspector.ts'
import { inJournal, type JournalSession, recordsOf, refuseSealed, sendingClient } from '../journal-session.ts'
import { type Command, InvalidArgumentError } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { Refusal, type Session, type Terminal } from '../terminal.ts'

interface InspectOptions extends SendingOptions {
  readonly port?: number
  readonly readOnly?: boolean
  readonly redact?: readonly string[]
}

export function addInspect(program: Command, { terminal }: Session): void {
  const command = withSending(
    program.command('inspect').description('serve a page on this machine that shows operations and entries'),
  )
    .option('--port <number>', 'on 127.0.0.1 (default: any that is free)', readPort)
    .option('--read-only', 'nothing can be changed from the page')
    .option('--redact <name>', 'a further field of bodies whose value is not shown', collect)
    .action((options: InspectOptions) =>
      withDatabaseOf({ options, terminal, access: options.readOnly ? 'read' : 'write' }, (database) =>
        inspect(database, options, terminal),
      ),
    )
  withExamples(command, [
    ['holdfast inspect', 'the journal of this folder, until Ctrl-C'],
    ['holdfast inspect --db postgres://db.internal/shop --read-only', 'a journal or a ledger in Postgres, to look at'],
  ])
}

/** Whatever has tables in the database: a journal, a ledger, or both. */
async function inspect(database: Database, options: InspectOptions, terminal: Terminal): Promise<void> {
  const client = sendingClient(options)
  const present = await presentComponents(database)
  const ledger = present.includes('ledger') ? createLedger({ store: database.ledger(), scope: 'public' }) : undefined
  const show = async (shown?: Client, readOnly = options.readOnly): Promise<void> => {
    const { port, redact } = options
    const inspector = await startInspector({ client: shown, ledger, port, redact, readOnly })
    try {
      if (options.json) await printJson(terminal, { url: inspector.url })
      else await terminal.out(`${inspector.url}\nOpen it in a browser of this machine. Ctrl-C ends it.\n`)
      if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
    } finally {
      await inspector.close()
    }
  }
  try {
    if (!present.includes('journal')) return await show()
    await inJournal(database, options.namespace, async (journal) => {
      const isSealed = !options.readOnly && (await hasSealed(journal, terminal))
      await show(journal.client(client), options.readOnly || isSealed)
    })
  } finally {
    await ledger?.close()
  }
}

/** What is encrypted with a key of the application must not be sent from here, so nothing is changed from the page. */
async function hasSealed(journal: JournalSession, { err }: Terminal): Promise<boolean> {
  try {
    for (const status of ['pending', 'failed'] as const) {
      for await (const record of recordsOf(journal, { status })) refuseSealed(record)
    }
    return false
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    err('Bodies in this journal are encrypted: the page can change nothing. Start the inspector in the application.\n')
    return true
  }
}

function readPort(value: string): number {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
    throw new InvalidArgumentError('It has to be a port: a whole number up to 65535.')
  }
  return Number(value)
}
