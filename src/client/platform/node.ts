import { inboundContext } from '../../foundation/inbound-context.ts'
import { nodeDigest } from '../../foundation/node-digest.ts'
import { processLiveness } from '../coordination/process-liveness.ts'
import { memoryJournal } from '../journal/memory/memory-journal.ts'
import type { Journal } from '../journal/port.ts'
import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { chooseNodeTransport } from '../transport/undici/choose-node-transport.ts'
import type { Platform } from './port.ts'

/** Where a line on stderr has no reader, or spoils a report. */
const QUIET: ReadonlySet<string | undefined> = new Set(['production', 'test'])

const SHARED = Symbol.for('holdfast.memory-journal')

/** A file, or one journal in memory for the whole process: every copy of the package shares it, as it would a file. */
function defaultJournal(): Journal {
  const path = process.env.HOLDFAST_DB || '.holdfast/operations.db'
  if (path !== ':memory:') return sqliteJournal({ path })
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
