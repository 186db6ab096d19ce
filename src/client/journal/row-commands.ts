import { checkChange, checkRow } from './check-row.ts'
import { dueTime, matchesClaim, matchesClaimOne } from './claim-rules.ts'
import type { Claimant, ClaimedRow, Fence, JournalCommand, JournalResult, JournalRow, PlacedRow } from './port.ts'

/** The commands, for journals that look at rows one by one: which rows each needs, and what it makes of them. */

/** A row as it is kept; replaced as a whole, never changed in place. */
export interface KeptRow extends PlacedRow {
  readonly setAside: boolean
}

/** The one row with this id or, failing that, this key. */
export interface WantedOne {
  readonly index: 'key'
  readonly namespace: string
  readonly key: string
  readonly id?: string | null
}
/** Rows in the order of their places; `'open'` has those that somebody may want to claim or holds. */
export interface WantedInOrder {
  readonly index: 'all' | 'open'
  readonly namespace: string
  readonly after?: number
  readonly limit?: number
  readonly where?: (row: KeptRow) => boolean
}
/** Rows that have expired by `now`; an index may know it, `where` says so of each. */
export interface WantedExpired {
  readonly index: 'expiry'
  readonly now: number
  readonly limit: number
  readonly where: (row: KeptRow) => boolean
}
/** The one row that is due first. */
export interface WantedDue {
  readonly index: 'due'
  readonly namespace: string
  readonly dueTime: (row: KeptRow) => number | undefined
}
export type Wanted = WantedOne | WantedInOrder | WantedExpired | WantedDue

/** What is to be done, and what to answer. */
export interface Decision {
  readonly insert?: JournalRow
  readonly put?: readonly KeptRow[]
  /** With a `put` of one row: the new body of its answer. Without it, the one that is there stays. */
  readonly responseBody?: Uint8Array | null
  readonly delete?: readonly KeptRow[]
  /** Rows that the answer needs with their bodies. */
  readonly handOut?: readonly KeptRow[]
  readonly answer: (handedOut: PlacedRow[]) => JournalResult
}

export interface Plan {
  readonly wanted: Wanted
  readonly decide: (found: readonly KeptRow[]) => Decision
}

/** Throws a StorageError where the command holds what can't be stored. */
export function planOf(command: JournalCommand): Plan {
  const plan: (command: never) => Plan = PLANS[command.do]
  return plan(command as never)
}

type CommandOf<Do> = Extract<JournalCommand, { readonly do: Do }>

const PLANS: { readonly [Do in JournalCommand['do']]: (command: CommandOf<Do>) => Plan } = {
  append: planAppend,
  commit: (command) => {
    const { change } = command
    checkChange(change)
    return ifFenced(command, (row) => ({ put: [{ ...row, ...change }], responseBody: change.responseBody }))
  },
  remove: (command) => ifFenced(command, (row) => ({ delete: [row] })),
  renew: (command) => ifFenced(command, (row) => ({ put: [{ ...row, leaseUntil: command.leaseUntil }] })),
  claim: (command) => {
    const { namespace, after, limit } = command
    const where = (row: KeptRow): boolean => !row.setAside && matchesClaim(row, command)
    return { wanted: { index: 'open', namespace, after, limit, where }, decide: (rows) => take(rows, command) }
  },
  'claim-one': (command) => ({
    wanted: oneOf(command),
    decide: (rows) => {
      const fitting = rows.filter((row) => !row.setAside && matchesClaimOne(row, command))
      const { answer, ...taken } = take(fitting, command)
      return { ...taken, answer: (handedOut) => answer(handedOut)[0] }
    },
  }),
  read: ({ namespace, keyOrId }) => ({
    wanted: { index: 'key', namespace, key: keyOrId, id: keyOrId },
    decide: (handOut) => ({ handOut, answer: ([row]) => row }),
  }),
  list: ({ namespace, status, after, limit }) => {
    const where = (row: KeptRow): boolean => status === undefined || row.status === status
    return {
      wanted: { index: status === 'pending' ? 'open' : 'all', namespace, after, limit, where },
      decide: (handOut) => ({ handOut, answer: (rows) => rows }),
    }
  },
  owners: ({ namespace, now }) => ({
    wanted: { index: 'open', namespace, where: (row) => row.owner !== null && row.leaseUntil > now },
    decide: (rows) => ({ answer: () => [...new Set(rows.map((row) => row.owner as string))] }),
  }),
  'next-due': (command) => {
    const due = (row: KeptRow): number | undefined => (row.setAside ? undefined : dueTime(row, command))
    return {
      wanted: { index: 'due', namespace: command.namespace, dueTime: due },
      decide: ([row]) => ({ answer: () => row && due(row) }),
    }
  },
  forget: ({ namespace }) => ({ wanted: { index: 'all', namespace }, decide: deleteAll }),
  prune: ({ now, limit }) => {
    const where = ({ setAside, expiresAt }: KeptRow): boolean => !setAside && expiresAt !== null && expiresAt <= now
    return { wanted: { index: 'expiry', now, limit, where }, decide: deleteAll }
  },
  'set-aside': (command) => ({
    wanted: oneOf(command),
    decide: (rows) => {
      const put = rows.map((row) => ({ ...row, owner: null, leaseUntil: 0, setAside: true }))
      return { put, answer: () => put.length > 0 }
    },
  }),
}

function oneOf({ namespace, key }: { readonly namespace: string; readonly key: string }): Wanted {
  return { index: 'key', namespace, key }
}

function planAppend({ row }: CommandOf<'append'>): Plan {
  checkRow(row)
  const { namespace, key, id } = row
  return {
    wanted: { index: 'key', namespace, key, id },
    decide: ([existing]) => {
      if (!existing) return { insert: row, answer: () => ({ appended: true }) }
      return { handOut: [existing], answer: ([found]) => ({ appended: false, existing: found as PlacedRow }) }
    },
  }
}

function ifFenced(fence: Fence, write: (row: KeptRow) => Omit<Decision, 'answer'>): Plan {
  return {
    wanted: oneOf(fence),
    decide: ([row]) => {
      if (!row || row.owner !== fence.owner || row.epoch !== fence.epoch) return { answer: () => false }
      return { ...write(row), answer: () => true }
    },
  }
}

interface Taken extends Decision {
  readonly answer: (handedOut: PlacedRow[]) => ClaimedRow[]
}

function take(rows: readonly KeptRow[], { owner, leaseUntil }: Claimant): Taken {
  const taken = rows.map((row) => ({ ...row, owner, leaseUntil, epoch: row.epoch + 1 }))
  return {
    put: taken,
    handOut: taken,
    answer: (handedOut) => handedOut.map((row, at) => ({ ...row, previousOwner: rows[at]?.owner ?? null })),
  }
}

function deleteAll(rows: readonly KeptRow[]): Decision {
  return { delete: rows, answer: () => rows.length }
}
