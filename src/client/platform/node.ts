import { ConfigurationError } from '../../errors/classes.ts'
import { databaseUrlKind } from '../../foundation/database-url.ts'
import { inboundContext } from '../../foundation/inbound-context.ts'
import { nodeDigest } from '../../foundation/node-digest.ts'
import { processLiveness } from '../coordination/process-liveness.ts'
import { memoryJournal } from '../journal/memory/memory-journal.ts'
import type { Journal } from '../journal/port.ts'
import { postgresJournal } from '../journal/postgres/postgres-journal.ts'
import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { chooseNodeTransport } from '../transport/undici/choose-node-transport.ts'
import type { Platform } from './port.ts'

/** Where a line on stderr has no reader, or spoils a report. */
const QUIET: ReadonlySet<string | undefined> = new Set(['production', 'test'])

/** Without the URL, which may have a password in it. */
const OTHER_URL =
  'HOLDFAST_DB is a URL that no journal can open. It takes the path of a SQLite file, a URL that begins with postgres://, or :memory:'

const SHARED = Symbol.for('holdfast.memory-journal')

/**
 * A file, a Postgres, or one journal in memory for the whole process: every copy of the package shares that, as it would a
 * file.
 */
function defaultJournal(): Journal {
  const place = process.env.HOLDFAST_DB || '.holdfast/operations.db'
  const kind = databaseUrlKind(place)
  if (kind === 'postgres') return postgresJournal({ connectionString: place.trim() })
  if (kind === 'other') throw new ConfigurationError(OTHER_URL)
  if (place !== ':memory:') return sqliteJournal({ path: place })
  const here = globalThis as { [SHARED]?: Journal }
  here[SHARED] ??= memoryJournal()
  return here[SHARED]
}

export const platform: Platform = {
  sendHeaders: true,
  digest: nodeDigest,
  defaultJournal,
  transport: chooseNodeTransport,
  coordination: processLiveness,
  warn,
  inboundContext: inboundContext.current,
  outside: inboundContext.outside,
}

function warn(sentence: string): void {
  if (!QUIET.has(process.env.NODE_ENV)) process.stderr.write(`holdfast: ${sentence}\n`)
}
