import type { Commit } from '../client/journal/port.ts'
import type { HeadV1 } from '../client/operation/codec.ts'

export function headOf(head: string): HeadV1 {
  return JSON.parse(head) as HeadV1
}

/** Says whether the journal already has this operation as settled. */
export type IsSettled = (named: Pick<Commit, 'namespace' | 'key'>) => boolean

/** What a commit means in an operation's life. A settled record is settled once; after that its handlers are told. */
export function meaningOf(commit: Commit, isSettled: IsSettled): 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' {
  const { status, owner, head } = commit.change
  if (status !== 'pending') return isSettled(commit) ? 'deliver' : 'settle'
  if (owner === null) return 'release'
  return headOf(head).inFlightSince === undefined ? 'wait' : 'attempt'
}
