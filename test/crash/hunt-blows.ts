import { BlowTable, type BlowTerms } from '../support/blow-table.ts'
import type { JournalPlace } from './journal-place.ts'

/** Blows at the processes and their server. */
type ProcessBlow =
  /** SIGKILL of a process that has its own operations and those of others. */
  | 'client kill'
  /** SIGSTOP, for less than a lease, and SIGCONT. */
  | 'client freeze'
  /** The journal of one process fails for a moment. */
  | 'journal blink'
  | 'server kill'
  /** Nothing of the request is taken. */
  | 'cut before'
  /** The server has done it, and its answer is lost. */
  | 'cut after'

/** Blows at the journal that the processes share. */
export type PlaceBlow =
  /** Between a process and the database, in the middle of whatever is on its way. */
  | 'connection cut'
  /** Nothing passes and nothing is closed. */
  | 'connection silent'
  | 'cut off for a lease'
  | 'backend terminated'
  | 'Postgres restart'

/** What this hunt has no means for; `npm run hunt` has. */
type Elsewhere = 'doubled' | 'ledger blink'

export type CrashBlow = ProcessBlow | PlaceBlow | Elsewhere

/** How often each comes where the dice decide. The cuts are the server's own; restarts come at their time. */
export const CRASH_WEIGHTS: Readonly<Partial<Record<CrashBlow, number>>> = {
  'client kill': 70,
  'client freeze': 10,
  'journal blink': 12,
  'server kill': 8,
  'connection cut': 40,
  'connection silent': 6,
  'cut off for a lease': 1,
  'backend terminated': 15,
}

export function crashBlows({ strikes }: JournalPlace): BlowTable<CrashBlow> {
  const atPlace = Object.entries(strikes).map(([blow, how]) => [blow, typeof how === 'function' ? 'dealt' : how])
  return new BlowTable<CrashBlow>({
    'client kill': 'dealt',
    'client freeze': 'dealt',
    'journal blink': 'dealt',
    'server kill': 'dealt',
    'cut before': 'dealt',
    'cut after': 'dealt',
    doubled: { never: 'nothing stands between the clients and the server' },
    'ledger blink': { never: 'the server has no ledger: it is the judge' },
    ...(Object.fromEntries(atPlace) as BlowTerms<PlaceBlow>),
  })
}
