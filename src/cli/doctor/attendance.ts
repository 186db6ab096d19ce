import { keptUntil } from '../../client/gate/ask.ts'
import type { OperationRecord } from '../../client/operation/record.ts'
import { isDeadOwner } from '../../foundation/process-owner.ts'
import { isDue, type JournaledGate, type JournalOrigins } from '../origins/journal-origins.ts'
import { type Finding, problem, someKeys, warning } from './finding.ts'

/** A resume takes up within this time what no runner holds. A call is over by then, so that what is held for longer is resumed. */
const OVERDUE_MS = 60_000
/** Operations wait for up to five minutes between two runs. */
const LATELY_MS = 360_000

/** The pending operations of one origin in one namespace. */
interface Group {
  readonly namespace: string
  readonly origin: string
  readonly overdue: string[]
  /** Does a resume work on some of them, or did it lately? */
  isAttended: boolean
}

/** What is due and free, and whether somebody resumes it: leases, runs and due times show it, and what is known of the origins. */
export class Attendance {
  readonly #groups = new Map<string, Group>()
  readonly #origins: JournalOrigins
  readonly #now: number

  constructor(origins: JournalOrigins, now: number) {
    this.#origins = origins
    this.#now = now
  }

  /** `isBehind`: another operation of its lane comes first. */
  note(record: OperationRecord, { isBehind }: { readonly isBehind: boolean }): void {
    const group = this.#groupOf(record)
    this.#origins.count(record)
    if (isResumed(record, this.#now)) group.isAttended = true
    if (!isBehind && this.isOverdue(record)) group.overdue.push(record.key)
  }

  /** Would a resume have taken it up by now? */
  isOverdue(record: OperationRecord): boolean {
    const { lease, acceptedAt, dueAt, notBefore, request } = record
    if (isHeldAlive(record, this.#now) || !isDue(record, this.#now)) return false
    const freeAt = Math.max(
      dueAt,
      notBefore,
      lease?.until ?? 0,
      acceptedAt,
      heldUntil(this.#origins.gateOf(request.origin)),
    )
    return freeAt + OVERDUE_MS < this.#now
  }

  judge(): readonly Finding[] {
    const waiting = [...this.#groups.values()].filter(({ overdue, isAttended }) => overdue.length > 0 && !isAttended)
    const isElsewhere = ({ namespace }: Group): boolean =>
      [...this.#groups.values()].some((group) => group.namespace === namespace && group.isAttended)
    const unattended = waiting.filter((group) => !isElsewhere(group)).flatMap(({ overdue }) => overdue)
    const behind = waiting.filter(isElsewhere)
    return [
      ...(unattended.length > 0 ? [problem('unattended', abandoned(unattended), RESUME)] : []),
      ...behind.map(({ origin, overdue }) => warning('waiting', passedOver(origin, overdue), LOOK_AGAIN)),
      ...this.#origins.heldBack().map(({ origin, view }) => warning('held back', `${origin} ${view.reason}`, GOES_ON)),
    ]
  }

  #groupOf({ namespace, request: { origin } }: OperationRecord): Group {
    const name = JSON.stringify([namespace, origin])
    const group = this.#groups.get(name) ?? { namespace, origin, overdue: [], isAttended: false }
    this.#groups.set(name, group)
    return group
  }
}

const RESUME = 'run `holdfast resume`, or call client.resume({ continuous: true }) in the service'
const LOOK_AGAIN = 'look again in a minute; is a client for this origin missing among those that resume?'
const GOES_ON = 'nothing: what is kept goes on by itself; look at that server'

function abandoned(keys: readonly string[]): string {
  return `pending, and no process resumes them: ${someKeys(keys)}`
}

function passedOver(origin: string, keys: readonly string[]): string {
  return `due at ${origin} for over a minute, while a resume works for other origins: ${someKeys(keys)}`
}

function isHeldAlive({ lease }: OperationRecord, now: number): boolean {
  return lease !== undefined && lease.until > now && !isDeadOwner(lease.owner)
}

/** By a runner that is at it now, or that was within the longest time between two runs. */
function isResumed(record: OperationRecord, now: number): boolean {
  if (isHeldAlive(record, now)) return record.acceptedAt + OVERDUE_MS < now
  const last = record.attempts.at(-1)
  return record.fruitlessRuns > 0 && last !== undefined && last.startedAt + last.durationMs + LATELY_MS > now
}

/** Until then nobody would have sent a kept operation, as the client knew when it wrote this. */
function heldUntil(gate: JournaledGate | undefined): number {
  if (!gate) return 0
  const { limits, at, ...state } = gate
  return keptUntil({ ...state, at }, limits, { now: at, inFlight: 0 }) ?? at
}
