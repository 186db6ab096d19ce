import type { OperationRecord } from '../operation/record.ts'
import type { EngineContext } from './engine-context.ts'

/** Any resume, in whichever process, would have taken up by then what nobody holds. */
const OVERDUE_MS = 10_000
/** More are not counted. */
const MOST_COUNTED = 20

/** Says that operations of a run that is over are pending, and that this client does not resume them. */
export async function tellIfUnattended(engine: EngineContext): Promise<void> {
  const { keeper, options, clock, events } = engine
  const now = clock.now()
  const query = { namespace: options.namespace, status: 'pending', after: 0, limit: MOST_COUNTED } as const
  const { records } = await keeper.list(query)
  const owners = records.flatMap(({ record }) => record.lease?.owner ?? [])
  const dead = owners.length > 0 ? await engine.coordination.findDead([...new Set(owners)]) : []
  const left = records.filter(({ record }) => isLeft(record, { dead, now }))
  const [oldest] = left
  if (!oldest || engine.housekeeping.attended) return
  events.tell({ type: 'journal.unattended', operations: left.length, oldestAt: oldest.record.acceptedAt })
  const count = left.length < MOST_COUNTED ? String(left.length) : `${left.length} or more`
  engine.warn?.(
    `${count} operations of an earlier run are pending in the journal, and this client does not resume them. ` +
      'Call client.resume({ continuous: true }), or look at them with client.operations().',
  )
}

function isLeft(
  { lease, dueAt, notBefore }: OperationRecord,
  { dead, now }: { readonly dead: readonly string[]; readonly now: number },
): boolean {
  if (lease && dead.includes(lease.owner)) return true
  return Math.max(dueAt, notBefore, lease?.until ?? 0) + OVERDUE_MS < now
}
