import { BlowTable } from '../support/blow-table.ts'

export type CrashBlow =
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

/** What this hunt has no means for; `npm run hunt` has. */
type Elsewhere = 'doubled' | 'ledger blink' | 'backend terminated' | 'Postgres restart'

/** How often each comes where the dice decide. The cuts are the server's own. */
export const CRASH_WEIGHTS: Readonly<Partial<Record<CrashBlow | Elsewhere, number>>> = {
  'client kill': 70,
  'client freeze': 10,
  'journal blink': 12,
  'server kill': 8,
}

export function crashBlows(): BlowTable<CrashBlow | Elsewhere> {
  return new BlowTable<CrashBlow | Elsewhere>({
    'client kill': 'dealt',
    'client freeze': 'dealt',
    'journal blink': 'dealt',
    'server kill': 'dealt',
    'cut before': 'dealt',
    'cut after': 'dealt',
    doubled: { never: 'nothing stands between the clients and the server' },
    'ledger blink': { never: 'the server has no ledger: it is the judge' },
    'backend terminated': { never: 'the journal is in SQLite' },
    'Postgres restart': { never: 'the journal is in SQLite' },
  })
}
