import { hash } from 'node:crypto'
import { framed } from '../../foundation/digest.ts'
import { inboundContext } from '../../foundation/inbound-context.ts'
import { processLiveness } from '../coordination/process-liveness.ts'
import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { chooseNodeTransport } from '../transport/undici/choose-node-transport.ts'
import type { Platform } from './port.ts'

/** Where a line on stderr has no reader, or spoils a report. */
const QUIET: ReadonlySet<string | undefined> = new Set(['production', 'test'])

export const platform: Platform = {
  sendHeaders: true,
  digest: (texts, bytes) => hash('sha256', framed(texts, bytes), 'hex'),
  defaultJournal: () => sqliteJournal({ path: process.env.HOLDFAST_DB || '.holdfast/operations.db' }),
  transport: chooseNodeTransport,
  coordination: processLiveness,
  warn,
  inboundContext: inboundContext.current,
  outside: inboundContext.outside,
}

function warn(sentence: string): void {
  if (!QUIET.has(process.env.NODE_ENV)) process.stderr.write(`holdfast: ${sentence}\n`)
}
