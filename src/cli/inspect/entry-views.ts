import type { Entry } from '../../server/entry/entry.ts'
import type { Reply } from '../../server/entry/reply.ts'
import type { LedgerMetrics } from '../../server/guard/counters.ts'
import type { EntriesQuery } from '../../server/ledger/port.ts'
import { shownMessage } from './shown-body.ts'
import type { EntriesPage, EntryDetail, EntryRow, LedgerOverview } from './wire.ts'

/** What the inspector asks of a ledger; every `Ledger` has it. */
export interface InspectedLedger {
  entries(query?: EntriesQuery): AsyncIterable<Entry>
  find(scope: string, key: string): Promise<Entry | undefined>
  metrics(): Promise<LedgerMetrics>
  /** Without it, the page decides nothing about entries that are `unknown`. */
  resolve?(scope: string, key: string, outcome: Reply | 'rerun'): Promise<boolean>
}

const PAGE = 50

export async function ledgerOverview(ledger: InspectedLedger): Promise<LedgerOverview> {
  const { store, inFlight, counters } = await ledger.metrics()
  return {
    entries: store?.entries,
    unknown: store?.unknown,
    inFlight,
    replayed: counters.replayed,
    recorded: counters.recorded,
    canResolve: ledger.resolve !== undefined,
  }
}

export async function listEntries(ledger: InspectedLedger, query: Omit<EntriesQuery, 'limit'>): Promise<EntriesPage> {
  const rows: EntryRow[] = []
  for await (const entry of ledger.entries({ ...query, limit: PAGE })) rows.push(entryRow(entry))
  return { rows, more: rows.length === PAGE }
}

function entryRow({ scope, key, state, method, path, attempt, external, createdAt, answer }: Entry): EntryRow {
  const [shownPath = path] = path.split('?', 1)
  return { scope, key, state, method, path: shownPath, attempt, external, createdAt, status: answer?.status }
}

export function entryDetail(entry: Entry, ledger: InspectedLedger): EntryDetail {
  const { answer, state } = entry
  return {
    ...entryRow(entry),
    leaseUntil: entry.leaseUntil,
    completedAt: entry.completedAt ?? undefined,
    expiresAt: entry.expiresAt,
    unknownSince: entry.unknownSince ?? undefined,
    answer: answer ? { ...shownMessage(answer), status: answer.status } : undefined,
    canResolve: state === 'unknown' && ledger.resolve !== undefined,
  }
}
