import type { Client } from '../client/client.ts'
import { composeClient } from '../client/compose-client.ts'
import { RecordKeeper } from '../client/journal/record-keeper.ts'
import type { OperationRecord, OperationStatus } from '../client/operation/record.ts'
import type { ClientOptions } from '../client/options.ts'
import { platform } from '../client/platform/node.ts'
import type { StorageError } from '../errors/classes.ts'
import { nodeDigest } from '../foundation/node-digest.ts'
import type { JournalOptions, SendingOptions } from './arguments.ts'
import { type Access, type Database, requireTables, withDatabaseOf } from './database/database.ts'
import { Refusal, type Terminal, WrongUsage } from './terminal.ts'

/** A record that can't be decoded. */
export interface Unreadable {
  readonly key: string
  readonly error: StorageError
}

/** The journal of one command. */
export interface JournalSession {
  readonly database: Database
  readonly namespace: string
  readonly keeper: RecordKeeper
  /** Grows while records are listed. */
  readonly unreadable: readonly Unreadable[]
  /** A client on this journal. It has no handlers: settlements wait for those of the application. */
  client(options?: ClientOptions): Client
}

export interface SessionTerms {
  readonly options: JournalOptions
  readonly terminal: Terminal
  readonly access: Access
}

export function withJournalOf<T>(terms: SessionTerms, work: (session: JournalSession) => Promise<T>): Promise<T> {
  return withDatabaseOf(terms, async (database) => {
    await requireTables(database, 'journal')
    return inJournal(database, terms.options.namespace, work)
  })
}

/** The tables have to be there. */
export async function inJournal<T>(
  database: Database,
  namespace: string,
  work: (session: JournalSession) => Promise<T>,
): Promise<T> {
  const journal = database.journal()
  const unreadable: Unreadable[] = []
  const keeper = new RecordKeeper(journal, { onUnreadable: (error, key) => unreadable.push({ error, key }) })
  const clients: Client[] = []
  const client = (options: ClientOptions = {}): Client => {
    const made = composeClient({ ...platform, warn: () => {} }, { ...options, journal, namespace })
    clients.push(made)
    return made
  }
  try {
    await keeper.open()
    return await work({ database, namespace, keeper, unreadable, client })
  } finally {
    for (const made of clients) await made.close()
    await keeper.close()
  }
}

export interface RecordQuery {
  readonly status?: OperationStatus | undefined
  readonly after?: string | undefined
}

const PAGE = 200

/** Every record of the namespace in the order of acceptance, page by page. */
export async function* recordsOf(
  { keeper, namespace }: JournalSession,
  { status, after }: RecordQuery = {},
): AsyncGenerator<OperationRecord> {
  let place = after === undefined ? 0 : await keeper.placeOf(namespace, after)
  if (place === undefined) throw new Refusal(`No operation ${after} is in the namespace ${namespace}`)
  for (let more = true; more; ) {
    const page = await keeper.list({ namespace, status, after: place, limit: PAGE })
    for (const { record } of page.records) yield record
    more = page.more
    place = page.last
  }
}

export async function recordOf({ keeper, namespace }: JournalSession, keyOrId: string): Promise<OperationRecord> {
  const record = await keeper.read(namespace, keyOrId)
  if (!record) throw new Refusal(`No operation ${keyOrId} is in the namespace ${namespace}`)
  return record
}

/** What a client needs to send. Headers go to a named origin only, as everywhere in the library. */
export function sendingClient({ baseUrl, header, trustedOrigin }: SendingOptions): ClientOptions {
  if (header && !baseUrl && !trustedOrigin) {
    throw new WrongUsage('--header needs --base-url or --trusted-origin: credentials are sent to a named origin only')
  }
  return { baseUrl, headers: header, trustedOrigins: trustedOrigin }
}

/**
 * A journal may be encrypted with a key that only the application has; its bodies are then other bytes than those that
 * were accepted, and must not be sent. The fingerprint of the record shows it.
 */
export function refuseSealed({ request, fingerprint, key }: OperationRecord): void {
  if (!request.body || nodeDigest([request.method, request.url], request.body) === fingerprint) return
  throw new Refusal(
    `The body of operation ${key} is encrypted, or damaged: it is not what was accepted. Nothing was sent: resume it with ` +
      'the application, which has the key',
  )
}
