import type { Append, Journal, JournalCommand, JournalRow, PlacedRow, Write } from './port.ts'

/** What a client knows of an origin. The journal does not interpret it. */
export interface OriginLevel {
  readonly origin: string
  readonly level: object
  /** After this time it says no more than a new start would. */
  readonly until: number
}

/** The part of the client that has levels to keep, and takes back what was kept. */
export interface LevelSource {
  /** Those that have changed since they were last taken. */
  takeChanged(): Iterable<OriginLevel>
  restore(origin: string, level: unknown): void
}

/** A level is a row like that of an operation, in a namespace that no client can have: every journal can keep it. */
const NAMESPACE = ''
const OWNER = 'levels'
const EPOCH = 0
const MOST_LEVELS = 1000

/** Hands the levels on record to the client. What can't be read is left out: a level only saves a server some requests. */
export async function readLevels(journal: Journal, source: Pick<LevelSource, 'restore'>): Promise<void> {
  try {
    const list = { do: 'list', namespace: NAMESPACE, status: undefined, after: 0, limit: MOST_LEVELS } as const
    const [rows] = await journal.execute([list])
    for (const { key, head } of rows as PlacedRow[]) source.restore(key, JSON.parse(head))
  } catch {}
}

/** Replaces the level on record. Pushed right behind another command, it costs no transaction of its own. */
export function levelCommands(level: OriginLevel): [Write, Append] {
  const fence = { namespace: NAMESPACE, key: level.origin, owner: OWNER, epoch: EPOCH }
  return [
    { do: 'write', ...fence, change: 'remove' },
    { do: 'append', row: rowOf(level) },
  ]
}

/** Does a command write a level? Observers that follow the lives of operations leave it out. */
export function writesLevel(command: JournalCommand): boolean {
  const named = command.do === 'append' ? command.row : command
  return 'namespace' in named && named.namespace === NAMESPACE
}

function rowOf({ origin, level, until }: OriginLevel): JournalRow {
  return {
    version: 1,
    namespace: NAMESPACE,
    key: origin,
    id: null,
    name: null,
    lane: null,
    origin,
    body: null,
    status: 'succeeded',
    owner: OWNER,
    epoch: EPOCH,
    leaseUntil: 0,
    dueAt: 0,
    notBefore: 0,
    laneUntil: null,
    deliveryDue: false,
    expiresAt: until,
    head: JSON.stringify(level),
    responseBody: null,
  }
}
