import type { PlacedRecord } from '../../journal/record-keeper.ts'
import { DEAD_STATUSES, type DeadLetter, deadLetterOf, isDeadLetter } from '../../operation/dead-letter.ts'
import type { OperationStatus } from '../../operation/record.ts'
import type { Engine } from '../engine.ts'

const PAGE = 100

export interface DeadLetterQuery {
  readonly limit?: number | undefined
  readonly after?: string | undefined
}

/**
 * The dead letters of the namespace in the order of acceptance. Each status is listed by the journal, page by page, and
 * the lists are merged: what has succeeded is never read.
 */
export async function* listDeadLetters(engine: Engine, query: DeadLetterQuery): AsyncGenerator<DeadLetter> {
  const { keeper, options } = engine
  await keeper.open()
  const behind = query.after === undefined ? 0 : await keeper.placeOf(options.namespace, query.after)
  const after = behind ?? Number.MAX_SAFE_INTEGER
  let left = query.limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  for await (const { record } of inOrder(DEAD_STATUSES.map((status) => deadOf(engine, status, after)))) {
    yield deadLetterOf(record)
    if (--left <= 0) return
  }
}

async function* deadOf(
  { keeper, options }: Engine,
  status: OperationStatus,
  from: number,
): AsyncGenerator<PlacedRecord> {
  for (let after = from; ; ) {
    const page = await keeper.list({ namespace: options.namespace, status, after, limit: PAGE })
    for (const placed of page.records) if (isDeadLetter(placed.record)) yield placed
    if (!page.more) return
    after = page.last
  }
}

/** Merges lists that are each in the order of acceptance. */
async function* inOrder(lists: readonly AsyncGenerator<PlacedRecord>[]): AsyncGenerator<PlacedRecord> {
  // Asked for together, the first pages share one look at the journal.
  let heads = await Promise.all(lists.map(async (list) => ({ list, next: await list.next() })))
  for (;;) {
    heads = heads.filter(({ next }) => !next.done)
    if (heads.length === 0) return
    const first = heads.reduce((one, other) => (other.next.value.place < one.next.value.place ? other : one))
    yield first.next.value
    first.next = await first.list.next()
  }
}
