import { resolve } from 'node:path'
import { databaseUrlKind } from '../../foundation/database-url.ts'
import { redactUrl } from '../../observe/redact.ts'
import type { DatabaseOptions } from '../arguments.ts'
import { type Terminal, WrongUsage } from '../terminal.ts'

export interface SqlitePlace {
  readonly kind: 'sqlite'
  readonly path: string
  /** For messages; without credentials. */
  readonly shown: string
}

export interface PostgresPlace {
  readonly kind: 'postgres'
  readonly connectionString: string
  readonly schema: string
  readonly shown: string
}

/** Where the tables are. */
export type Place = SqlitePlace | PostgresPlace

const DEFAULT_FILE = '.holdfast/operations.db'

export function placeOf({ db, schema }: DatabaseOptions, { env }: Terminal): Place {
  const given = db || env.HOLDFAST_DB || DEFAULT_FILE
  const kind = databaseUrlKind(given)
  if (kind === 'postgres') {
    return { kind: 'postgres', connectionString: given, schema, shown: redactUrl(given) }
  }
  if (given === ':memory:') throw new WrongUsage('A database in memory ends with its process: there is nothing to see')
  if (kind === 'other') {
    throw new WrongUsage('--db takes the path of a SQLite file, or a URL that begins with postgres://')
  }
  // What looks like a user and a password is not shown, though it is a path.
  return { kind: 'sqlite', path: resolve(given), shown: given.replace(/:[^:@/]+@/g, ':***@') }
}
