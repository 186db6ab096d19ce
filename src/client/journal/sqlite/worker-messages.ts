import { StorageError } from '../../../errors/classes.ts'
import type { Effect } from '../../../errors/reason.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { JournalCommand, JournalResult } from '../port.ts'

/** What the two threads say to each other. One answer per request, in order. */
export interface WorkerSettings {
  /** Absolute path of better-sqlite3. */
  readonly driver: string
  readonly path: string
  readonly durability: SqliteDurability
}

export type WorkerRequest =
  | { readonly ask: 'open' }
  | { readonly ask: 'execute'; readonly commands: readonly JournalCommand[] }
  | { readonly ask: 'close' }

/** How the connection stands after opening, as SQLite tells it. */
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

export function plainFailure(error: StorageError): PlainFailure {
  const cause = error.cause instanceof Error ? error.cause : undefined
  const code = (cause as { code?: unknown } | undefined)?.code
  return {
    message: error.message,
    effect: error.effect,
    cause: cause && { name: cause.name, message: cause.message, code: code === undefined ? undefined : String(code) },
  }
}

export function revivedFailure({ message, effect, cause }: PlainFailure): StorageError {
  if (!cause) return new StorageError(message, { effect })
  const revived = Object.assign(new Error(cause.message), { name: cause.name, code: cause.code })
  return new StorageError(message, { effect, cause: revived })
}
