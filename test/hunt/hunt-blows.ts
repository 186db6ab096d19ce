import { BlowTable } from '../support/blow-table.ts'
import type { Backstage, StoreBlow } from './backstage.ts'

/** What the network does to a request. */
export type NetworkBlow =
  /** The connection breaks before the request is through: nothing of it arrives, or a part. */
  | 'cut before'
  /** The server works to the end, and its answer is lost. */
  | 'cut after'
  /** A part of the answer comes through. */
  | 'cut within'
  /** Both connections break while the server works. */
  | 'cut while working'
  /** It arrives twice at the same time, perhaps at two replicas. */
  | 'doubled'
  /** It arrives once more, long after it was answered. */
  | 'doubled late'
  /** Copies of it arrive around it, at any replica: so it is with every request. */
  | 'copied'

/** What is done to the processes and to their stores. */
export type HandBlow =
  /** SIGKILL. */
  | 'client kill'
  | 'server kill'
  /** SIGSTOP for longer than the lease, then SIGCONT. */
  | 'server freeze'
  /** The client's journal, or the ledger of one replica, fails for a moment. */
  | 'journal blink'
  | 'ledger blink'
  /** The ledger's store of one replica does what it is asked to, and answers after `storeTimeout`. */
  | 'late store answer'
  | StoreBlow

/** What the shop does to its own handlers. */
export type ShopBlow =
  /** Its framework answers 503 in the place of a handler, which goes on. */
  'framework timeout'

export type HuntBlow = NetworkBlow | HandBlow | ShopBlow

/** Those that count when a process tells that its store has failed so. */
export const TOLD_BLOWS: ReadonlySet<string> = new Set<HandBlow | ShopBlow>([
  'journal blink',
  'ledger blink',
  'late store answer',
  'disk full',
  'pool exhausted',
  'framework timeout',
])

/** How often each comes where the dice decide. */
export const HAND_WEIGHTS: Readonly<Record<HandBlow, number>> = {
  'client kill': 22,
  'server kill': 30,
  'server freeze': 13,
  'journal blink': 8,
  'ledger blink': 8,
  'late store answer': 8,
  'store locked': 15,
  'disk full': 6,
  'backend terminated': 15,
  'half-open connection': 6,
  'replica cut off': 8,
  'pool exhausted': 10,
  'Postgres restart': 2,
  'Postgres kill': 2,
}

export function huntBlows({ blows }: Backstage): BlowTable<HuntBlow> {
  const ofStore = (blow: StoreBlow): 'dealt' | { readonly never: string } => {
    const how = blows[blow]
    return typeof how === 'function' ? 'dealt' : how
  }
  return new BlowTable<HuntBlow>({
    'client kill': 'dealt',
    'server kill': 'dealt',
    'server freeze': 'dealt',
    'cut before': 'dealt',
    'cut after': 'dealt',
    'cut within': 'dealt',
    'cut while working': 'dealt',
    doubled: 'dealt',
    'doubled late': 'dealt',
    copied: 'dealt',
    'framework timeout': 'dealt',
    'journal blink': 'dealt',
    'ledger blink': 'dealt',
    'late store answer': 'dealt',
    'store locked': ofStore('store locked'),
    'disk full': ofStore('disk full'),
    'backend terminated': ofStore('backend terminated'),
    'half-open connection': ofStore('half-open connection'),
    'replica cut off': ofStore('replica cut off'),
    'pool exhausted': ofStore('pool exhausted'),
    'Postgres restart': ofStore('Postgres restart'),
    'Postgres kill': ofStore('Postgres kill'),
  })
}
