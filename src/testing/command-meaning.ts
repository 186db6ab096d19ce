import type { Fence, JournalCommand, RowChange, Write } from '../client/journal/port.ts'
import type { HeadV1 } from '../client/operation/codec.ts'

/** A write of all mutable columns. */
export interface Commit extends Write {
  readonly change: RowChange
}

/** What a command does, in more detail than the port: the kinds of a write, a claim and a drop are distinguished. */
export type CommandKind =
  | Exclude<JournalCommand['do'], 'write' | 'claim' | 'drop'>
  | 'commit'
  | 'renew'
  | 'remove'
  | 'set-aside'
  | 'claim'
  | 'claim-by-key'
  | 'forget'
  | 'prune'

export function kindOf(command: JournalCommand): CommandKind {
  if (command.do === 'claim') return 'key' in command ? 'claim-by-key' : 'claim'
  if (command.do === 'drop') return 'namespace' in command ? 'forget' : 'prune'
  if (command.do !== 'write') return command.do
  if (typeof command.change === 'string') return command.change
  return isCommit(command) ? 'commit' : 'renew'
}

export function isCommit(command: JournalCommand): command is Commit {
  return command.do === 'write' && typeof command.change === 'object' && 'head' in command.change
}

export function parseHead(head: string): HeadV1 {
  return JSON.parse(head) as HeadV1
}

/** Says whether the journal already has this operation as settled. */
export type IsSettled = (named: Pick<Fence, 'namespace' | 'key'>) => boolean

/** What a commit means in an operation's life. A record is settled once; a later settled commit is a delivery. */
export function meaningOf(commit: Commit, isSettled: IsSettled): 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' {
  const { status, owner, head } = commit.change
  if (status !== 'pending') return isSettled(commit) ? 'deliver' : 'settle'
  if (owner === null) return 'release'
  return parseHead(head).inFlightSince === undefined ? 'wait' : 'attempt'
}
