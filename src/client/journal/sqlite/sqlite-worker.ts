import { parentPort, workerData } from 'node:worker_threads'
import type { StorageError } from '../../../errors/classes.ts'
import type { Effect } from '../../../errors/reason.ts'
import { FileIdentity } from '../../../sql/file-identity.ts'
import { loadSqliteDriver } from '../../../sql/load-sqlite-driver.ts'
import { emptyWriteAheadLog } from '../../../sql/secure-delete.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { openSqliteFile, type SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { JournalCommand, JournalResult } from '../port.ts'
import { forgets, runBatch } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'

/**
 * The worker thread: it owns the connection, and may wait for the disk and for locks. Bundled into a string. The types
 * are the messages of the two threads: one answer per request, in order.
 */

export interface WorkerSettings {
  /** The absolute path of better-sqlite3, or `node:sqlite`. */
  readonly driver: string
  readonly path: string
  readonly durability: SqliteDurability
}

export type WorkerRequest =
  | { readonly ask: 'open' }
  | { readonly ask: 'execute'; readonly commands: readonly JournalCommand[] }
  | { readonly ask: 'close' }

/** How the connection stands after opening, as SQLite reports it. */
export interface ConnectionFacts {
  readonly synchronous: number
  readonly journalMode: string
}

export type WorkerAnswer =
  | { readonly opened: ConnectionFacts }
  | { readonly results: JournalResult[] }
  | { readonly closed: true }
  | { readonly failure: PlainFailure }

/** An error without its class, which does not cross threads; nor does the `code` of its cause. */
export interface PlainFailure {
  readonly message: string
  readonly effect: Effect
  readonly cause: { readonly name: string; readonly message: string; readonly code: string | undefined } | undefined
}

const settings = workerData as WorkerSettings
let database: SqliteDatabase | undefined
let file: FileIdentity | undefined

parentPort?.on('message', (request: WorkerRequest) => {
  parentPort?.postMessage(answerTo(request))
})

function answerTo(request: WorkerRequest): WorkerAnswer {
  try {
    return serve(request)
  } catch (error) {
    return { failure: plainFailure(storageFailure(error, `The journal ${settings.path}`)) }
  }
}

function serve(request: WorkerRequest): WorkerAnswer {
  if (request.ask === 'close') {
    database?.close()
    return { closed: true }
  }
  database ??= openSqliteFile(loadSqliteDriver(settings.driver), { ...settings, schema: journalSchema })
  file ??= new FileIdentity(settings.path, `The journal ${settings.path}`, database)
  if (request.ask === 'execute') {
    file.check()
    const results = runBatch(database, request.commands)
    if (forgets(request.commands)) emptyWriteAheadLog(database)
    return { results }
  }
  const synchronous = Number(database.pragma('synchronous', { simple: true }))
  return { opened: { synchronous, journalMode: String(database.pragma('journal_mode', { simple: true })) } }
}

function plainFailure(error: StorageError): PlainFailure {
  const cause = error.cause instanceof Error ? error.cause : undefined
  const code = (cause as { code?: unknown } | undefined)?.code
  return {
    message: error.message,
    effect: error.effect,
    cause: cause && { name: cause.name, message: cause.message, code: code === undefined ? undefined : String(code) },
  }
}
