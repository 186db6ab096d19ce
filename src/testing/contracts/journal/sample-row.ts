import type {
  Append,
  ClaimByKey,
  ClaimDue,
  DropExpired,
  DueFilter,
  Fence,
  FirstInLane,
  JournalRow,
  List,
  RowChange,
  Survey,
  Write,
} from '../../../client/journal/port.ts'
import type { Commit } from '../../command-meaning.ts'

export const NOW = 1_700_000_000_000
export const SPACE = 'contract'

/** A pending row without a lease, ready to be claimed. */
export function row(key: string, more: Partial<JournalRow> = {}): JournalRow {
  return {
    version: 1,
    namespace: SPACE,
    key,
    id: null,
    name: null,
    lane: null,
    origin: 'https://api.example.com',
    body: new TextEncoder().encode(`body of ${key}`),
    status: 'pending',
    owner: null,
    epoch: 0,
    leaseUntil: 0,
    dueAt: 0,
    notBefore: 0,
    laneUntil: null,
    deliveryDue: false,
    expiresAt: null,
    head: '{"method":"POST"}',
    responseBody: null,
    ...more,
  }
}

export function append(key: string, more: Partial<JournalRow> = {}): Append {
  return { do: 'append', row: row(key, more) }
}

/** A row that was appended under a lease of runner `me`. */
export function held(key: string, more: Partial<JournalRow> = {}): Append {
  return append(key, { owner: 'me', epoch: 1, leaseUntil: NOW + 30_000, ...more })
}

/** A pending row that holds its lane. */
export function inLane(key: string, lane: string, more: Partial<JournalRow> = {}): Append {
  return append(key, { version: 2, lane, laneUntil: NOW + 9000, ...more })
}

export function settled(key: string, more: Partial<JournalRow> = {}): Append {
  return append(key, { status: 'succeeded', ...more })
}

export function fence(key: string, more: Partial<Fence> = {}): Fence {
  return { namespace: SPACE, key, owner: 'me', epoch: 1, ...more }
}

export function change(more: Partial<RowChange> = {}): RowChange {
  return {
    status: 'succeeded',
    owner: null,
    leaseUntil: 0,
    dueAt: 0,
    notBefore: 0,
    laneUntil: null,
    deliveryDue: false,
    expiresAt: NOW + 1000,
    head: '{"method":"POST","done":true}',
    responseBody: new Uint8Array([1, 2, 3]),
    ...more,
  }
}

export function commit(key: string, more: Partial<Fence> = {}): Commit {
  return { do: 'write', ...fence(key, more), change: change() }
}

export function remove(key: string, more: Partial<Fence> = {}): Write {
  return { do: 'write', ...fence(key, more), change: 'remove' }
}

export function setAside(key: string, more: Partial<Fence> = {}): Write {
  return { do: 'write', ...fence(key, more), change: 'set-aside' }
}

export function renew(key: string, leaseUntil: number, more: Partial<Fence> = {}): Write {
  return { do: 'write', ...fence(key, more), change: { leaseUntil } }
}

/** Every pending row, and no settlement. */
const ALL_DUE: DueFilter = { deliverNames: [], exceptNames: [], origins: '*', exceptOrigins: [] }

export function surveyCommand(more: Partial<DueFilter> = {}): Survey {
  return { do: 'survey', namespace: SPACE, now: NOW, ...ALL_DUE, ...more }
}

export function prune(expiredBy: number, limit: number): DropExpired {
  return { do: 'drop', expiredBy, limit }
}

export function claimCommand(more: Partial<ClaimDue> = {}): ClaimDue {
  return {
    do: 'claim',
    namespace: SPACE,
    owner: 'you',
    now: NOW,
    leaseUntil: NOW + 30_000,
    deadOwners: [],
    after: 0,
    limit: 100,
    dueBy: NOW,
    ...ALL_DUE,
    ...more,
  }
}

export function claimByKey(key: string, more: Partial<ClaimByKey> = {}): ClaimByKey {
  return {
    do: 'claim',
    namespace: SPACE,
    key,
    owner: 'you',
    now: NOW,
    leaseUntil: NOW + 30_000,
    deadOwners: [],
    statuses: ['pending'],
    ...more,
  }
}

export function read(keyOrId: string, namespace = SPACE): { do: 'read'; namespace: string; keyOrId: string } {
  return { do: 'read', namespace, keyOrId }
}

export function list(more: Partial<List> = {}): List {
  return { do: 'list', namespace: SPACE, status: undefined, after: 0, limit: 100, ...more }
}

export function firstInLane(lane: string, namespace = SPACE): FirstInLane {
  return { do: 'lane', namespace, lane }
}

export function keysOf(rows: readonly { readonly key: string }[]): string {
  return rows.map(({ key }) => key).join(' ')
}
