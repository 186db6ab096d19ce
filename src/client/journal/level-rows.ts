import type { GroupCommit } from './group-commit.ts'
import {
  type Fence,
  type Journal,
  type JournalCommand,
  type JournalRow,
  type PlacedRow,
  RECORD_VERSION,
} from './port.ts'

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

/** The levels beside the records: they ride along with the writes of operations, and are read when the journal opens. */
export class LevelRows {
  readonly #source: LevelSource | undefined

  constructor(source: LevelSource | undefined) {
    this.#source = source
  }

  /** What can't be read is as good as none: a level only ever saves a server some requests. */
  async read(journal: Journal): Promise<void> {
    if (!this.#source) return
    try {
      const list = { do: 'list', namespace: NAMESPACE, status: undefined, after: 0, limit: MOST_LEVELS } as const
      const [rows] = await journal.execute([list])
      for (const { key, head } of rows as PlacedRow[]) this.#source.restore(key, JSON.parse(head))
    } catch {}
  }

  /** Called right after another write was asked for, so that it costs no transaction of its own. */
  rideAlong(writes: GroupCommit): void {
    for (const level of this.#source?.takeChanged() ?? []) {
      const replaced = [
        writes.run({ do: 'remove', ...fenceOf(level) }),
        writes.run({ do: 'append', row: rowOf(level) }),
      ]
      for (const write of replaced) write.catch(() => {})
    }
  }
}

/** Does a command write a level? Observers that follow the lives of operations leave it out. */
export function writesLevel(command: JournalCommand): boolean {
  const named = command.do === 'append' ? command.row : command
  return 'namespace' in named && named.namespace === NAMESPACE
}

function fenceOf({ origin }: OriginLevel): Fence {
  return { namespace: NAMESPACE, key: origin, owner: OWNER, epoch: EPOCH }
}

function rowOf({ origin, level, until }: OriginLevel): JournalRow {
  return {
    version: RECORD_VERSION,
    namespace: NAMESPACE,
    key: origin,
    id: null,
    name: null,
    origin,
    body: null,
    status: 'succeeded',
    owner: OWNER,
    epoch: EPOCH,
    leaseUntil: 0,
    dueAt: 0,
    notBefore: 0,
    deliveryDue: false,
    expiresAt: until,
    head: JSON.stringify(level),
    responseBody: null,
  }
}
